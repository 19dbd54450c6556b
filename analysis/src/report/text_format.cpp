#include "text_format.h"

#include <algorithm>
#include <fmt/format.h>

namespace msleaks::analysis {
namespace {

constexpr std::string_view kCut = "...";

bool isContinuation(unsigned char byte) { return (byte & 0xc0) == 0x80; }

// Bytes of the well-formed UTF-8 character at the front; 0 when there is none.
size_t characterBytes(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const size_t bytes = lead < 0x80                   ? 1
                       : lead >= 0xc2 && lead < 0xe0 ? 2
                       : (lead & 0xf0) == 0xe0       ? 3
                       : lead >= 0xf0 && lead < 0xf5 ? 4
                                                     : 0;
  if (bytes == 0 || bytes > text.size())
    return 0;
  for (size_t i = 1; i < bytes; ++i)
    if (!isContinuation(static_cast<unsigned char>(text[i])))
      return 0;
  return bytes;
}

// U+0080..U+009F are control characters as well.
bool isControl(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character[0]);
  return lead < 0x20 || lead == 0x7f || (lead == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0);
}

} // namespace

std::string percentText(uint64_t part, uint64_t whole) {
  if (whole == 0)
    return "";
  const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  return percent < 0.95 && part != 0 ? "<1%" : fmt::format("{:.0f}%", percent);
}

std::string bytesText(uint64_t bytes) {
  if (bytes < 1024)
    return fmt::format("{} B", bytes);
  static constexpr const char *kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  // 1023.95 would be shown as 1024.
  while (value >= 1023.95 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return value < 9.995 ? fmt::format("{:.2f} {}", value, kUnits[unit]) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string durationText(uint64_t time_ns) {
  const auto value = static_cast<double>(time_ns);
  if (time_ns < 1'000)
    return fmt::format("{} ns", time_ns);
  if (time_ns < 1'000'000)
    return fmt::format("{:.1f} us", value / 1e3);
  if (time_ns < 1'000'000'000)
    return fmt::format("{:.1f} ms", value / 1e6);
  if (time_ns < 120'000'000'000)
    return fmt::format("{:.2f} s", value / 1e9);
  const uint64_t seconds = time_ns / 1'000'000'000;
  return seconds < 7200 ? fmt::format("{} min {} s", seconds / 60, seconds % 60)
                        : fmt::format("{} h {} min", seconds / 3600, seconds / 60 % 60);
}

std::string countText(uint64_t count) {
  std::string digits = std::to_string(count);
  for (ptrdiff_t at = static_cast<ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<size_t>(at), 1, ',');
  return digits;
}

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const size_t bytes = characterBytes(text);
    if (bytes == 0 || isControl(text.substr(0, bytes))) {
      for (const char byte : text.substr(0, std::max<size_t>(bytes, 1)))
        shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    } else {
      shown += text.substr(0, bytes);
    }
    text.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return shown;
}

size_t widthOf(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char byte) { return !isContinuation(static_cast<unsigned char>(byte)); }));
}

std::string cutEnd(std::string_view text, size_t columns) {
  if (widthOf(text) <= columns)
    return std::string(text);
  const size_t keep = columns > kCut.size() ? columns - kCut.size() : 0;
  size_t at = 0;
  for (size_t shown = 0; at < text.size(); ++at)
    if (!isContinuation(static_cast<unsigned char>(text[at])) && shown++ == keep)
      break;
  return std::string(text.substr(0, at)).append(kCut.substr(0, std::min(columns, kCut.size())));
}

std::string cutBegin(std::string_view text, size_t columns) {
  const size_t width = widthOf(text);
  if (width <= columns)
    return std::string(text);
  const size_t keep = columns > kCut.size() ? columns - kCut.size() : 0;
  size_t at = text.size();
  for (size_t shown = 0; at > 0 && shown < keep;)
    shown += !isContinuation(static_cast<unsigned char>(text[--at]));
  return std::string(kCut.substr(0, std::min(columns, kCut.size()))).append(text.substr(at));
}

std::string shortPath(std::string_view path, size_t columns) {
  std::string cut = cutBegin(path, columns);
  if (cut.size() == path.size())
    return cut;
  const size_t slash = cut.find('/', kCut.size());
  const bool near = slash != std::string::npos && slash + 1 < cut.size() && slash < cut.size() / 2;
  return near ? std::string(kCut).append(cut, slash) : cut;
}

std::string_view baseName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

} // namespace msleaks::analysis
