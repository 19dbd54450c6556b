#include "analysis/result/lines.h"

#include "analysis/base/text.h"
#include "analysis/places/symbolizer.h"
#include "analysis/places/type_layouts.h"
#include "analysis/result/place_key.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace msleaks::analysis::inline result {
namespace {

auto orderOf(const SiteText &site) {
  return std::tie(site.file, site.line, site.column, site.library, site.offset, site.id);
}

bool isBefore(const SiteLine &left, const SiteLine &right) {
  if (left.own != right.own)
    return left.own;
  if (left.child.empty() != right.child.empty())
    return left.child.empty();
  return left.bytes != right.bytes ? left.bytes > right.bytes : orderOf(left.site) < orderOf(right.site);
}

} // namespace

std::shared_ptr<const SiteText> Lines::textOfCall(SiteId call) {
  std::shared_ptr<const SiteText> &text = texts_[call];
  if (!text)
    text = std::make_shared<SiteText>(textOf(catalog_.describe(call)));
  return text;
}

// The first process runs the program that the session started. The processes that it starts are its children.
std::string Lines::childOf(const Place &place) {
  const uint32_t number = catalog_.firstProcessWith(catalog_.describe(place.call).library);
  if (number == 0 || processes_.empty() || number == processes_.front().process)
    return {};
  const auto process = std::find_if(processes_.begin(), processes_.end(),
                                    [&](const ReportProcess &candidate) { return candidate.process == number; });
  return process == processes_.end() || process->command.empty() ? std::string()
                                                                 : std::string(baseName(process->command.front()));
}

SiteId Lines::callOfLibc(SiteId site) {
  uint32_t node = catalog_.innermostNodeOf(site);
  const auto isInside = [&](const Site &call) { return isOfLibc(call) || isOurLibrary(call.library); };
  while (SiteCatalog::isNode(node) && isInside(catalog_.describe(catalog_.pathNode(node).call)))
    node = catalog_.pathNode(node).outer;
  return SiteCatalog::isNode(node) ? catalog_.pathNode(node).call : places_.of(site).call;
}

// Most machines have no debug symbols of libc, so the function that allocated the block has no name. Then the type
// follows from the function that the program called.
std::string_view Lines::typeOf(SiteId site) {
  const Site &innermost = catalog_.describe(catalog_.innermostCallOf(site));
  return isOfLibc(innermost) ? libcTypeOf(innermost, catalog_.calleeOf(callOfLibc(site))) : innermost.type;
}

void Lines::addCalls(SiteId site, PathLine &shown) {
  const CallPath path = shownPath(catalog_, site);
  shown.complete = path.complete;
  for (const SiteId call : path.calls)
    shown.calls.push_back(textOfCall(call));
  shown.id = idOf(shown);
}

// PyTorch programs have tens of thousands of paths with a hundred calls. Adds calls only to paths that are shown.
template <class Line> std::vector<Line> Lines::named(std::vector<Draft<Line>> drafts) {
  struct Ranked {
    size_t draft, path, order;
    uint64_t bytes;
  };
  std::vector<Ranked> paths;
  for (size_t draft = 0; draft < drafts.size(); ++draft)
    for (size_t path = 0; path < drafts[draft].paths.size(); ++path)
      paths.push_back({draft, path, paths.size(), drafts[draft].line.paths[path].bytes});
  std::sort(paths.begin(), paths.end(), [](const Ranked &left, const Ranked &right) {
    return left.bytes != right.bytes ? left.bytes > right.bytes : left.order < right.order;
  });
  size_t calls = 0;
  for (const Ranked &ranked : paths) {
    Draft<Line> &draft = drafts[ranked.draft];
    PathLine &path = draft.line.paths[ranked.path];
    if (calls <= kMaxCallsOfList) {
      addCalls(draft.paths[ranked.path], path);
      calls += path.calls.size();
    }
    draft.line.more_paths += calls > kMaxCallsOfList;
  }
  std::vector<Line> lines;
  for (Draft<Line> &draft : drafts) {
    lines.push_back(std::move(draft.line));
    lines.back().paths.resize(lines.back().paths.size() - lines.back().more_paths); // a line's largest path comes first
  }
  return lines;
}

template <class Line> std::vector<Line> Lines::sorted(std::vector<Draft<Line>> drafts) {
  std::sort(drafts.begin(), drafts.end(),
            [](const auto &left, const auto &right) { return isBefore(left.line, right.line); });
  return named(std::move(drafts));
}

template std::vector<SiteLine> Lines::sorted(std::vector<Draft<SiteLine>>);
template std::vector<LeakLine> Lines::sorted(std::vector<Draft<LeakLine>>);
template std::vector<HandleLine> Lines::sorted(std::vector<Draft<HandleLine>>);
template std::vector<Finding> Lines::named(std::vector<Draft<Finding>>);

void Lines::describe(const PlaceGroup &group, Paths paths, Draft<SiteLine> &to) {
  const Place &place = group.place;
  SiteLine &line = to.line;
  line.site = textOf(catalog_, place);
  line.own = place.own;
  line.child = childOf(place);
  for (const SiteShare &share : group.shares) {
    line.bytes += share.bytes;
    line.count += share.count;
  }
  if (paths == Paths::LeftOut)
    return;
  std::vector<SiteShare> shares = group.shares;
  std::sort(shares.begin(), shares.end(), [](const SiteShare &left, const SiteShare &right) {
    return left.bytes != right.bytes ? left.bytes > right.bytes : left.site < right.site;
  });
  for (const SiteShare &share : shares) {
    line.paths.push_back({share.bytes, share.count, {}, false, 0});
    to.paths.push_back(share.site);
  }
  const Site &innermost = catalog_.describe(catalog_.innermostCallOf(shares.front().site));
  const bool is_marked = innermost.origin == SiteOrigin::Pass;
  line.allocator = {demangle(is_marked ? innermost.callee : catalog_.calleeOf(place.call)),
                    std::string(typeOf(shares.front().site)), std::string(innermost.variable)};
}

std::vector<PlaceGroup> Lines::byPlace(std::span<const SiteShare> shares) {
  std::map<Place::Key, PlaceGroup> groups;
  std::unordered_map<uint64_t, PlaceGroup *> by_call; // comparing keys is slow, and many paths contain one call
  for (const SiteShare &share : shares) {
    const Place place = places_.of(share.site);
    PlaceGroup *&group = by_call[uint64_t{place.call.index} << 32 | place.inlined];
    if (group == nullptr)
      group = &groups.try_emplace(place.keyIn(catalog_), PlaceGroup{place, {}}).first->second;
    group->shares.push_back(share);
  }
  std::vector<PlaceGroup> list;
  for (auto &[key, group] : groups)
    list.push_back(std::move(group));
  return list;
}

std::vector<SiteLine> Lines::bySite(std::span<const SiteShare> shares, Paths paths) {
  std::vector<Draft<SiteLine>> drafts;
  for (const PlaceGroup &group : byPlace(shares))
    drafts.push_back(lineOf<SiteLine>(group, paths));
  return sorted(std::move(drafts));
}

template <class Name> std::vector<NamedLine> Lines::groupsOf(std::span<const SiteShare> shares, Name nameOf) {
  std::map<std::string_view, BlockSum> sums;
  for (const SiteShare &share : shares)
    sums[nameOf(share)] += {share.bytes, share.count};
  std::vector<NamedLine> lines;
  for (const auto &[text, sum] : sums)
    lines.push_back({std::string(text), sum.bytes, sum.count});
  std::sort(lines.begin(), lines.end(),
            [](const auto &a, const auto &b) { return a.bytes != b.bytes ? a.bytes > b.bytes : a.name < b.name; });
  return lines;
}

std::vector<NamedLine> Lines::byType(std::span<const SiteShare> shares) {
  return groupsOf(shares, [&](const SiteShare &share) { return typeOf(share.site); });
}

std::vector<NamedLine> Lines::byOwner(std::span<const SiteShare> shares) {
  return groupsOf(shares, [&](const SiteShare &share) { return catalog_.describe(share.site).library; });
}

void Lines::addRemains(const std::vector<SiteRemains> &list, const char *reason, RemainsReport &report) {
  struct Group {
    PlaceGroup place;
    Remains remains;
  };
  std::map<std::pair<Place::Key, abi::Heap>, Group> groups;
  for (const SiteRemains &remains : list) {
    const Place place = reason ? innermostPlace(catalog_, remains.site) : places_.of(remains.site);
    const auto [at, fresh] =
        groups.try_emplace({place.keyIn(catalog_), remains.heap}, Group{{place, {}}, {remains.heap}});
    at->second.remains += remains;
    at->second.place.shares.push_back({remains.site, remains.bytes, remains.count});
  }
  std::vector<Draft<LeakLine>> physical, pool;
  for (const auto &[key, group] : groups) {
    const bool is_physical = abi::isPhysical(group.remains.heap);
    Draft<LeakLine> &draft = (is_physical ? physical : pool).emplace_back(lineOf<LeakLine>(group.place, Paths::Shown));
    draft.line.remains = group.remains;
    draft.line.reason = reason ? reason : "";
    (is_physical ? report.sum : report.pool_sum) += {draft.line.bytes, draft.line.count};
  }
  const auto append = [](std::vector<LeakLine> &to, std::vector<LeakLine> lines) {
    std::move(lines.begin(), lines.end(), std::back_inserter(to));
    std::stable_sort(to.begin(), to.end(), isBefore);
  };
  append(report.by_site, sorted(std::move(physical)));
  append(report.pool_by_site, sorted(std::move(pool)));
}

std::vector<SiteShare> bySite(const std::vector<CohortShare> &by_cohort, const Cohorts &cohorts) {
  std::vector<SiteShare> list;
  for (const CohortShare &share : by_cohort)
    list.push_back({cohorts[share.cohort].site, share.bytes, share.count});
  std::sort(list.begin(), list.end(), [](const auto &a, const auto &b) { return a.site < b.site; });
  std::vector<SiteShare> sums;
  for (const SiteShare &share : list) {
    if (sums.empty() || sums.back().site != share.site) {
      sums.push_back(share);
      continue;
    }
    sums.back().bytes += share.bytes;
    sums.back().count += share.count;
  }
  return sums;
}

std::vector<SiteRemains> bySite(const std::vector<CohortRemains> &by_cohort, const Cohorts &cohorts) {
  std::vector<SiteRemains> list;
  for (const CohortRemains &remains : by_cohort)
    list.push_back({remains, cohorts[remains.cohort].site});
  const auto keyOf = [](const SiteRemains &remains) { return std::tie(remains.site, remains.heap); };
  std::sort(list.begin(), list.end(), [&](const auto &a, const auto &b) { return keyOf(a) < keyOf(b); });
  std::vector<SiteRemains> sums;
  for (const SiteRemains &remains : list) {
    if (sums.empty() || keyOf(sums.back()) != keyOf(remains))
      sums.push_back(remains);
    else
      sums.back() += remains;
  }
  return sums;
}

} // namespace msleaks::analysis::inline result
