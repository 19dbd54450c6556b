#include "analysis/analyzers/callers_apart.h"

#include "analysis/base/text.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <string_view>

namespace msleaks::analysis::inline analyzers {
namespace {

constexpr size_t kMostCallers = 3;                   // a text shows at most this many callers
constexpr uint64_t kStandsOutOneIn = 10;             // a group needs this part of the place's bytes
constexpr uint64_t kLookedAtOneIn = 100;             // ignores smaller paths: there may be a hundred thousand
constexpr uint64_t kAloneParts = 3, kAloneOutOf = 4; // with three quarters of the bytes, a group is alone

struct Line {
  std::string_view function, file;
  std::string text;
};

std::vector<Line> linesOf(const Site &call) {
  const std::string unknown = fmt::format("{}+{:#x}", baseName(call.library), call.offset);
  std::vector<Line> lines;
  const auto add = [&](std::string_view function, std::string_view file, uint32_t line) {
    lines.push_back({function, file, file.empty() ? unknown : fmt::format("{}:{} {}", baseName(file), line, function)});
  };
  add(call.function, call.file, call.line);
  for (const InlineFrame &frame : call.inlined_at)
    add(frame.function, frame.file, frame.line);
  return lines;
}

// The calls around the place, innermost first, except calls in headers of the system and in the place's function.
std::vector<std::string> callersOf(SiteId site, const Place &place, SiteCatalog &catalog) {
  const CallPath path = shownPath(catalog, site);
  const auto at = std::find(path.calls.begin(), path.calls.end(), place.call);
  std::vector<Line> lines;
  for (auto call = at; call != path.calls.end() && lines.size() < 8 * kMostCallers; ++call)
    std::ranges::move(linesOf(catalog.describe(*call)), std::back_inserter(lines));
  std::vector<std::string> callers;
  for (size_t i = place.inlined + 1; i < lines.size() && callers.size() < kMostCallers; ++i) {
    const bool is_own = !lines[i].function.empty() && lines[i].function == lines[place.inlined].function;
    if (!is_own && !isSystemPath(lines[i].file))
      callers.push_back(std::move(lines[i].text));
  }
  return callers;
}

struct Way {
  std::vector<std::string> callers;
  SiteShare share;
};

std::string beginOf(const Way &way, size_t length) {
  const auto end = way.callers.begin() + static_cast<ptrdiff_t>(std::min(length, way.callers.size()));
  return fmt::format("{}", fmt::join(way.callers.begin(), end, " < "));
}

} // namespace

std::vector<PathGroup> callersApart(const PlaceGroup &group, SiteCatalog &catalog) {
  const uint64_t whole = group.sum().bytes;
  std::vector<Way> ways;
  for (const SiteShare &share : group.shares)
    if (share.bytes * kLookedAtOneIn >= whole)
      ways.push_back({callersOf(share.site, group.place, catalog), share});
  for (size_t length = 1; length <= kMostCallers; ++length) {
    std::map<std::string, PathGroup> by_begin;
    for (const Way &way : ways) {
      PathGroup &of = by_begin.try_emplace(beginOf(way, length)).first->second;
      of.group.place = group.place;
      of.group.shares.push_back(way.share);
    }
    if (by_begin.size() < 2)
      continue;
    std::vector<PathGroup> apart;
    bool is_one_way = false;
    for (auto &[begin, of] : by_begin) {
      const uint64_t bytes = of.group.sum().bytes;
      is_one_way |= bytes * kAloneOutOf >= whole * kAloneParts;
      if (begin.empty() || bytes * kStandsOutOneIn < whole)
        continue;
      of.callers = begin;
      apart.push_back(std::move(of));
    }
    return apart.size() < 2 || is_one_way ? std::vector<PathGroup>{{group, {}}} : apart;
  }
  return {{group, {}}};
}

} // namespace msleaks::analysis::inline analyzers
