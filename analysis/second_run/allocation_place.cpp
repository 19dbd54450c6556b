#include "analysis/second_run/allocation_place.h"

#include "analysis/base/text.h"
#include "analysis/places/place.h"

#include <algorithm>

namespace msleaks::analysis::inline second_run {
namespace {

constexpr size_t kCallsBehind = 8; // most frames of libraries or inlined functions between allocator and place

CallLine lineOf(const FrameText &frame, const SiteText &call) {
  const bool system = isSystemImage(call.library) || isSystemPath(frame.file);
  if (!frame.file.empty() && frame.line != 0)
    return {std::string(baseName(frame.file)), frame.line, {}, 0, system};
  return {{}, 0, call.library, call.offset, system};
}

void append(const SiteText &call, std::vector<CallLine> &lines) {
  lines.push_back(lineOf(call, call));
  for (const FrameText &frame : call.inlined_at)
    lines.push_back(lineOf(frame, call));
}

} // namespace

bool CallLine::operator==(const CallLine &other) const {
  return file == other.file && line == other.line && library == other.library && offset == other.offset;
}

std::vector<CallLine> linesOf(std::span<const SiteText> calls) {
  std::vector<CallLine> lines;
  for (const SiteText &call : calls)
    append(call, lines);
  return lines;
}

AllocationPlace::AllocationPlace(const SiteLine &finding) {
  const CallLine place = lineOf(finding.site, finding.site);
  paths_.push_back({place});
  for (const PathLine &path : finding.paths) {
    std::vector<CallLine> lines;
    for (const auto &call : path.calls)
      append(*call, lines);
    const auto at = std::find(lines.begin(), lines.end(), place);
    if (at == lines.end())
      continue;
    lines.erase(at + 1, lines.end());
    if (std::find(paths_.begin(), paths_.end(), lines) == paths_.end())
      paths_.push_back(std::move(lines));
  }
  for (const auto &path : paths_)
    depth_ = std::max(depth_, path.size() + kCallsBehind);
}

bool AllocationPlace::holds(std::span<const SiteText> calls) const {
  const std::vector<CallLine> lines = linesOf(calls);
  return std::any_of(paths_.begin(), paths_.end(), [&](const std::vector<CallLine> &path) {
    auto begin = lines.begin();
    while (begin != lines.end() && *begin != path.front() && begin->system)
      ++begin;
    return static_cast<size_t>(lines.end() - begin) >= path.size() && std::equal(path.begin(), path.end(), begin);
  });
}

size_t ownCallOf(std::span<const SiteText> calls) {
  const auto own =
      std::find_if(calls.begin(), calls.end(), [](const SiteText &call) { return !isSystemImage(call.library); });
  return own == calls.end() ? 0 : static_cast<size_t>(own - calls.begin());
}

} // namespace msleaks::analysis::inline second_run
