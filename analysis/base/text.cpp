#include "analysis/base/text.h"

#include <algorithm>
#include <clocale>
#include <cstddef>
#include <cwchar>
#include <fmt/format.h>
#include <iterator>
#include <vector>

namespace msleaks::analysis::inline base {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlank);
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(kBlank) + 1 - first);
}

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
  // With one decimal, 1023.95 would be shown as 1024.0.
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

std::string shortCountText(uint64_t count) {
  if (count < 1'000'000)
    return countText(count);
  static constexpr const char *kUnits = "MGTPE";
  double value = static_cast<double>(count) / 1e6;
  const char *unit = kUnits;
  for (; value >= 999.5 && unit[1] != 0; ++unit)
    value /= 1000;
  return fmt::format("{:.3g}{}", value, *unit);
}

namespace {

constexpr std::string_view kCut = "...";

bool isContinuation(unsigned char byte) { return (byte & 0xc0) == 0x80; }

// Sets a UTF-8 locale for this thread while the object exists: wcwidth(3) depends on the locale.
class Utf8Locale {
public:
  Utf8Locale() : before_(known() ? uselocale(known()) : locale_t()) {}
  ~Utf8Locale() {
    if (known())
      uselocale(before_);
  }
  Utf8Locale(const Utf8Locale &) = delete;
  Utf8Locale &operator=(const Utf8Locale &) = delete;

private:
  static locale_t known() {
    static const locale_t kUtf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", locale_t());
    return kUtf8;
  }
  locale_t before_;
};

// The code point of a well-formed character of more than one byte.
wchar_t codePointOf(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character[0]);
  auto code = static_cast<wchar_t>(lead & (0x7f >> character.size()));
  for (const char byte : character.substr(1))
    code = static_cast<wchar_t>(code << 6 | (static_cast<unsigned char>(byte) & 0x3f));
  return code;
}

// The size of the UTF-8 character at the front, in bytes; 0 if these bytes are not well-formed.
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

struct Character {
  size_t begin, columns; // columns: 0 = combines with the character before, 2 = wide
};

std::vector<Character> charactersOf(std::string_view text) {
  std::vector<Character> list;
  const Utf8Locale locale;
  for (size_t at = 0; at < text.size();) {
    const size_t bytes = std::max<size_t>(characterBytes(text.substr(at)), 1);
    const int columns = bytes == 1 ? 1 : wcwidth(codePointOf(text.substr(at, bytes)));
    list.push_back({at, columns < 0 ? 1 : static_cast<size_t>(columns)});
    at += bytes;
  }
  return list;
}

bool isAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char byte) { return static_cast<unsigned char>(byte) < 0x80; });
}

} // namespace

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
  if (isAscii(text))
    return text.size();
  size_t columns = 0;
  for (const Character &character : charactersOf(text))
    columns += character.columns;
  return columns;
}

std::string cutEnd(std::string_view text, size_t columns) {
  if (widthOf(text) <= columns)
    return std::string(text);
  size_t left = columns > kCut.size() ? columns - kCut.size() : 0;
  for (const Character &character : charactersOf(text)) {
    if (character.columns > left)
      return std::string(text.substr(0, character.begin)).append(kCut.substr(0, std::min(columns, kCut.size())));
    left -= character.columns;
  }
  return std::string(text);
}

std::string cutBegin(std::string_view text, size_t columns) {
  if (widthOf(text) <= columns)
    return std::string(text);
  size_t left = columns > kCut.size() ? columns - kCut.size() : 0, begin = text.size();
  const std::vector<Character> characters = charactersOf(text);
  for (auto character = characters.rbegin(); character != characters.rend() && character->columns <= left;
       ++character) {
    left -= character->columns;
    begin = character->columns == 0 ? begin : character->begin;
  }
  return std::string(kCut.substr(0, std::min(columns, kCut.size()))).append(text.substr(begin));
}

std::string cutMiddle(std::string_view text, size_t columns) {
  if (widthOf(text) <= columns)
    return std::string(text);
  if (columns <= kCut.size())
    return cutEnd(text, columns);
  const size_t end = (columns - kCut.size()) / 2, begin = columns - end;
  return cutEnd(text, begin) + cutBegin(text, end + kCut.size()).substr(kCut.size());
}

std::string shortPath(std::string_view path, size_t columns) {
  std::string cut = cutBegin(path, columns);
  if (cut.size() == path.size())
    return cut;
  const size_t slash = cut.find('/', kCut.size());
  const bool near = slash != std::string::npos && slash + 1 < cut.size() && slash < cut.size() / 2;
  return near ? std::string(kCut).append(cut, slash) : cut;
}

} // namespace msleaks::analysis::inline base
