#include "analysis/places/source_excerpts.h"

#include "analysis/base/files.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string_view>

namespace msleaks::analysis::inline places {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kBefore = 6, kBehind = 10; // numbers of lines that are shown before and after a line
constexpr uint32_t kMostBetween = 60;         // number of lines between two parts that are still shown
constexpr uint64_t kMostBytes = 32 << 20;
constexpr size_t kMostOfLine = 2000;

struct Range {
  uint32_t first, last;
};

std::vector<Range> rangesOf(const std::set<uint32_t> &lines) {
  std::vector<Range> ranges;
  for (const uint32_t line : lines) {
    const uint32_t first = line > kBefore ? line - kBefore : 1;
    const uint32_t last = line > UINT32_MAX - kBehind ? UINT32_MAX : line + kBehind;
    if (!ranges.empty() && first <= uint64_t{ranges.back().last} + kMostBetween)
      ranges.back().last = last;
    else
      ranges.push_back({first, last});
  }
  return ranges;
}

Result<std::string> textOf(const fs::path &path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error))
    return fail(fmt::format("{}: not on this machine", path.string()));
  const auto file = MSL_TRY(InputFile::open(path));
  if (file.size() > kMostBytes)
    return fail(fmt::format("{}: too large for a source", path.string()));
  std::string text(file.size(), '\0');
  text.resize(MSL_TRY(file.read(0, {reinterpret_cast<uint8_t *>(text.data()), text.size()})));
  return text;
}

std::string shortened(std::string_view line) {
  if (line.ends_with('\r'))
    line.remove_suffix(1);
  return line.size() <= kMostOfLine ? std::string(line) : std::string(line.substr(0, kMostOfLine)) + " …";
}

std::vector<SourceLines> partsOf(std::string_view text, const std::vector<Range> &ranges) {
  std::vector<SourceLines> parts;
  uint32_t number = 1;
  auto range = ranges.begin();
  while (!text.empty() && range != ranges.end()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (number >= range->first) {
      if (number == range->first)
        parts.push_back({number, {}});
      parts.back().lines.push_back(shortened(text.substr(0, end)));
    }
    if (number == range->last)
      ++range;
    ++number;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

} // namespace

std::vector<SourceExcerpt> excerptsOf(const LinesByFile &wanted, std::optional<fs::file_time_type> since) {
  std::vector<SourceExcerpt> excerpts;
  for (const auto &[file, lines] : wanted) {
    SourceExcerpt &excerpt = excerpts.emplace_back();
    excerpt.file = file;
    const auto text = textOf(file);
    if (!text) {
      excerpt.missing = text.error().message;
      continue;
    }
    excerpt.parts = partsOf(*text, rangesOf(lines));
    if (excerpt.parts.empty())
      excerpt.missing =
          fmt::format("'{}' ends before line {}: the file has changed since the build", file, *lines.begin());
    std::error_code error;
    const auto written = fs::last_write_time(file, error);
    excerpt.is_changed = since && !error && written > *since;
  }
  return excerpts;
}

nlohmann::ordered_json excerptsJson(const LinesByFile &wanted, std::optional<fs::file_time_type> since) {
  using Json = nlohmann::ordered_json;
  Json excerpts = Json::array();
  for (const SourceExcerpt &excerpt : excerptsOf(wanted, since)) {
    Json parts = Json::array();
    for (const SourceLines &part : excerpt.parts)
      parts.push_back({{"first", part.first}, {"lines", part.lines}});
    excerpts.push_back({{"file", excerpt.file},
                        {"missing", excerpt.missing},
                        {"changed", excerpt.is_changed},
                        {"parts", std::move(parts)}});
  }
  return excerpts;
}

} // namespace msleaks::analysis::inline places
