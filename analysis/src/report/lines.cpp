#include "lines.h"

#include "libc_types.h"
#include "suppressions.h"
#include "text_format.h"

#include "msleaks/analysis/symbolizer.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace msleaks::analysis {
namespace {

auto orderOf(const SiteText &site) {
  return std::tie(site.file, site.line, site.column, site.library, site.offset, site.id);
}

// Own code first, that of the first process before that of its children; then most bytes, then by place.
template <class Line> void sortLines(std::vector<Line> &lines) {
  std::sort(lines.begin(), lines.end(), [](const Line &left, const Line &right) {
    if (left.own != right.own)
      return left.own;
    if (left.child.empty() != right.child.empty())
      return left.child.empty();
    return left.bytes != right.bytes ? left.bytes > right.bytes : orderOf(left.site) < orderOf(right.site);
  });
}

} // namespace

std::shared_ptr<const SiteText> Lines::textOfCall(SiteId call) {
  std::shared_ptr<const SiteText> &text = texts_[call];
  if (!text)
    text = std::make_shared<SiteText>(textOf(catalog_.describe(call)));
  return text;
}

// Whatever the session was asked to run is the program; what that one starts are its children.
std::string Lines::childOf(const Place &place) {
  const uint32_t number = catalog_.firstProcessWith(catalog_.describe(place.call).library);
  if (number == 0 || processes_.empty() || number == processes_.front().process)
    return {};
  const auto process = std::find_if(processes_.begin(), processes_.end(),
                                    [&](const ReportProcess &candidate) { return candidate.process == number; });
  return process == processes_.end() || process->command.empty() ? std::string()
                                                                 : std::string(baseName(process->command.front()));
}

std::string_view Lines::typeOf(const Site &innermost, const Place &place) {
  return isOfLibc(innermost) ? libcTypeOf(innermost, catalog_.calleeOf(place.call)) : innermost.type;
}

void Lines::addCalls(PathLine &shown) {
  const CallPath path = shownPath(catalog_, shown.site);
  shown.complete = path.complete;
  for (const SiteId call : path.calls)
    shown.calls.push_back(textOfCall(call));
}

// A program like PyTorch has paths of a hundred calls by the ten thousand. Those that nobody will see get no calls.
template <class Line> void Lines::showPaths(std::vector<Line> &lines) {
  struct Ranked {
    SiteLine *line;
    PathLine *path;
    size_t order;
  };
  std::vector<Ranked> paths;
  for (SiteLine &line : lines)
    for (PathLine &path : line.paths)
      paths.push_back({&line, &path, paths.size()});
  std::sort(paths.begin(), paths.end(), [](const Ranked &left, const Ranked &right) {
    return left.path->bytes != right.path->bytes ? left.path->bytes > right.path->bytes : left.order < right.order;
  });
  size_t calls = 0;
  for (const Ranked &ranked : paths) {
    if (calls <= kMaxCallsOfList) {
      addCalls(*ranked.path);
      calls += ranked.path->calls.size();
    }
    ranked.line->more_paths += calls > kMaxCallsOfList;
  }
  for (SiteLine &line : lines) // each has its largest first
    line.paths.resize(line.paths.size() - line.more_paths);
}

template <class Line> void Lines::finishList(std::vector<Line> &lines) {
  sortLines(lines);
  showPaths(lines);
}

void Lines::finishLists(RemainsReport &remains) {
  finishList(remains.by_site);
  finishList(remains.pool_by_site);
}

void Lines::fill(SiteLine &line, const Place &place, std::vector<SiteShare> shares, Paths paths) {
  line.site = textOf(catalog_, place);
  line.own = place.own;
  line.child = childOf(place);
  for (const SiteShare &share : shares) {
    line.bytes += share.bytes;
    line.count += share.count;
  }
  if (paths == Paths::LeftOut)
    return;
  std::sort(shares.begin(), shares.end(), [](const SiteShare &left, const SiteShare &right) {
    return left.bytes != right.bytes ? left.bytes > right.bytes : left.site < right.site;
  });
  for (const SiteShare &share : shares)
    line.paths.push_back({share.bytes, share.count, {}, false, share.site});
  const Site &innermost = catalog_.describe(catalog_.innermostCallOf(shares.front().site));
  const bool is_marked = innermost.origin == SiteOrigin::Pass;
  line.allocator = {demangle(is_marked ? innermost.callee : catalog_.calleeOf(place.call)),
                    std::string(typeOf(innermost, place)), std::string(innermost.variable)};
}

std::vector<SiteLine> Lines::sitesOf(const Peak &peak, Paths paths) {
  struct Group {
    Place place;
    std::vector<SiteShare> shares;
  };
  std::map<Place::Key, Group> groups;
  std::unordered_map<uint64_t, Group *> by_call; // the key is long, and many paths lead to one call
  for (const SiteShare &share : peak.by_site) {
    const Place place = places_.of(share.site);
    Group *&group = by_call[uint64_t{place.call.index} << 32 | place.inlined];
    if (group == nullptr)
      group = &groups.try_emplace(place.keyIn(catalog_), Group{place, {}}).first->second;
    group->shares.push_back(share);
  }
  std::vector<SiteLine> lines;
  for (const auto &[key, group] : groups)
    fill(lines.emplace_back(), group.place, group.shares, paths);
  finishList(lines);
  return lines;
}

template <class Name> std::vector<NamedLine> Lines::groupsOf(const Peak &peak, Name nameOf) {
  std::map<std::string_view, BlockSum> sums;
  for (const SiteShare &share : peak.by_site)
    sums[nameOf(share)] += {share.bytes, share.count};
  std::vector<NamedLine> lines;
  for (const auto &[text, sum] : sums)
    lines.push_back({std::string(text), sum.bytes, sum.count});
  std::sort(lines.begin(), lines.end(),
            [](const auto &a, const auto &b) { return a.bytes != b.bytes ? a.bytes > b.bytes : a.name < b.name; });
  return lines;
}

PeakReport Lines::peak(const PeakResult &result) {
  PeakReport report;
  report.bytes = result.total.bytes;
  report.time_ns = result.total.time_ns;
  report.by_site = sitesOf(result.total, Paths::Shown);
  const auto innermost = [&](const SiteShare &share) -> const Site & { return catalog_.describe(share.site); };
  report.by_type =
      groupsOf(result.total, [&](const SiteShare &share) { return typeOf(innermost(share), places_.of(share.site)); });
  report.by_owner = groupsOf(result.total, [&](const SiteShare &share) { return innermost(share).library; });
  for (size_t heap = 0; heap < result.by_heap.size(); ++heap)
    if (const Peak &peak = result.by_heap[heap]; peak.bytes != 0)
      report.by_heap.push_back({static_cast<abi::Heap>(heap), peak.bytes, peak.time_ns, sitesOf(peak, Paths::LeftOut)});
  report.by_process = result.by_process;
  return report;
}

void Lines::add(const std::vector<SiteRemains> &list, const char *reason, RemainsReport &report) {
  struct Group {
    Place place;
    SiteRemains remains;
    std::vector<SiteShare> shares;
  };
  std::map<std::pair<Place::Key, abi::Heap>, Group> groups;
  for (const SiteRemains &remains : list) {
    // What is harmless is the library's, whoever called it.
    const Place place = reason ? innermostPlace(catalog_, remains.site) : places_.of(remains.site);
    const auto [at, fresh] =
        groups.try_emplace({place.keyIn(catalog_), remains.heap}, Group{place, {place.call, remains.heap}, {}});
    at->second.remains += remains;
    at->second.shares.push_back({remains.site, remains.bytes, remains.count});
  }
  for (const auto &[key, group] : groups) {
    const bool physical = abi::isPhysical(group.remains.heap);
    LeakLine &line = (physical ? report.by_site : report.pool_by_site).emplace_back();
    fill(line, group.place, group.shares, Paths::Shown);
    line.remains = group.remains;
    line.reason = reason ? reason : "";
    (physical ? report.sum : report.pool_sum) += {line.bytes, line.count};
  }
}

// By the innermost call and the functions of its library that led there, whoever called that one.
const Suppression *Lines::suppressionOfRemains(const SiteRemains &remains) {
  const CallPath path = shownPath(catalog_, remains.site);
  if (path.calls.empty())
    return nullptr;
  const Site &innermost = catalog_.describe(path.calls.front());
  std::vector<std::string_view> functions;
  for (const SiteId call : path.calls) {
    const Site &site = catalog_.describe(call);
    if (site.library != innermost.library) {
      functions.push_back(catalog_.calleeOf(call));
      break;
    }
    functions.push_back(site.function);
    for (const InlineFrame &frame : site.inlined_at)
      functions.push_back(frame.function);
  }
  return suppressionOf(innermost, functions, remains);
}

// How many blocks a process keeps is counted over all paths to the innermost call.
void Lines::addLeaks(const std::vector<SiteRemains> &leaked, Report &report) {
  struct Group {
    SiteRemains remains;
    std::vector<SiteRemains> parts;
  };
  std::map<std::tuple<SiteId, abi::Heap, const Suppression *>, Group> groups;
  for (const SiteRemains &remains : leaked) {
    const SiteId place = innermostPlace(catalog_, remains.site).call;
    const auto [at, fresh] = groups.try_emplace({place, remains.heap, suppressionOfRemains(remains)},
                                                Group{{remains.site, remains.heap}, {}});
    at->second.remains += remains;
    at->second.parts.push_back(remains);
  }
  std::map<std::string, std::vector<SiteRemains>> harmless;
  std::vector<SiteRemains> leaks;
  for (const auto &[key, group] : groups) {
    const Suppression *row = std::get<const Suppression *>(key);
    const bool keeps = row && keepsNoMore(*row, group.remains, report.processes.size());
    std::vector<SiteRemains> &to = keeps ? harmless[row->reason] : leaks;
    to.insert(to.end(), group.parts.begin(), group.parts.end());
  }
  add(leaks, nullptr, report.leaks);
  for (const auto &[reason, list] : harmless)
    add(list, reason.c_str(), report.suppressed);
}

void Lines::remains(const LeakResult &result, Report &report) {
  addLeaks(result.leaked, report);
  add(result.alive, nullptr, report.alive);
  add(result.unsure, nullptr, report.unsure);
  finishLists(report.leaks);
  finishLists(report.suppressed);
  finishLists(report.alive);
  finishLists(report.unsure);
}

} // namespace msleaks::analysis
