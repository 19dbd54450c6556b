#include "analysis/report/turnover.h"

#include "analysis/base/session_time.h"
#include "analysis/base/tables.h"
#include "analysis/live/launched_kernels.h"
#include "analysis/result/pictures.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline report {
namespace {

using PartSum = Turnover::Sum;
using PartChange = Turnover::Change;

PartSum partSumOf(const Block &block) { return {static_cast<int64_t>(block.size), 1}; }
PartSum minus(const PartSum &sum) { return {-sum.bytes, -sum.count}; }

// Divides the time into equal parts. If the time grows beyond the last part, two neighbours become one part.
class TimeParts {
public:
  // Returns the part that contains the time. Calls join() each time before neighbours become one.
  template <class Join> uint32_t of(uint64_t time_ns, Join &&join) {
    if (!begin_ns_)
      begin_ns_ = time_ns;
    const uint64_t since_ns = sinceStart(time_ns, *begin_ns_);
    while (since_ns >> shift_ >= Turnover::kMostParts) {
      join();
      ++shift_;
    }
    last_ns_ = std::max(last_ns_, time_ns);
    return static_cast<uint32_t>(since_ns >> shift_);
  }
  bool areAfter(uint64_t time_ns) const { return begin_ns_ && time_ns < *begin_ns_; }
  // The begins of all parts up to the last time, and the end of the last part: at `end_ns`, if this is known.
  std::vector<uint64_t> edges(std::optional<uint64_t> end_ns) const {
    std::vector<uint64_t> edges;
    if (!begin_ns_)
      return edges;
    const uint64_t last_ns = std::max(last_ns_, end_ns.value_or(0));
    uint64_t edge_ns = *begin_ns_;
    for (; edge_ns <= last_ns; edge_ns += uint64_t{1} << shift_)
      edges.push_back(edge_ns);
    edges.push_back(end_ns && *end_ns > edges.back() ? *end_ns : edge_ns);
    return edges;
  }

private:
  std::optional<uint64_t> begin_ns_;
  uint64_t last_ns_ = 0;
  unsigned shift_ = 10;
};

// Adds up the changes of neighbours. `changes` is ascending by part.
template <class List, class PartOf, class Add> void joinNeighbours(List &changes, PartOf partOf, Add add) {
  size_t kept = 0;
  for (auto &change : changes) {
    partOf(change) /= 2;
    if (kept != 0 && partOf(changes[kept - 1]) == partOf(change))
      add(changes[kept - 1], change);
    else
      changes[kept++] = change;
  }
  changes.resize(kept);
}

void addTo(PartChange &to, const PartChange &from) {
  to.born += from.born;
  to.freed += from.freed;
  to.other += from.other;
}

// The changes of the blocks of one site, or of one place.
struct PartChanges {
  PartSum before;
  std::vector<PartChange> list; // ascending by part

  // A change is nearly always in the last part.
  PartChange &in(uint32_t part) {
    if (list.empty() || list.back().part < part)
      return list.emplace_back(PartChange{.part = part});
    if (list.back().part == part)
      return list.back();
    const auto at = std::ranges::lower_bound(list, part, {}, &PartChange::part);
    return at->part == part ? *at : *list.insert(at, PartChange{.part = part});
  }
  void join() {
    joinNeighbours(list, [](PartChange &change) -> uint32_t & { return change.part; }, addTo);
  }
  void operator+=(const PartChanges &other) {
    before += other.before;
    for (const PartChange &change : other.list)
      addTo(in(change.part), change);
  }
  // The most bytes that were alive at the end of a part.
  int64_t mostBytes() const {
    int64_t now = before.bytes, most = now;
    for (const PartChange &change : list)
      most = std::max(most, now += change.born.bytes - change.freed.bytes + change.other.bytes);
    return most;
  }
  int64_t bornBytes() const {
    int64_t bytes = 0;
    for (const PartChange &change : list)
      bytes += change.born.bytes;
    return bytes;
  }
};

using LaunchCounts = std::vector<std::pair<uint32_t, uint64_t>>; // part and launches, ascending by part

class TurnoverAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "turnover"; }
  bool wants(abi::Heap heap) const override { return abi::isPhysical(heap); }
  void useCohorts(const Cohorts &, SiteCatalog &catalog) override { labels_ = &catalog.labels(); }
  uint32_t eventKinds() const override { return LaunchedKernels::kEvents; }
  void onEvent(const StreamEvent &event, SiteId) override;
  void onAlloc(const Block &, AllocCause, uint64_t time_ns) override;
  void onFree(const Block &, FreeCause, uint64_t time_ns) override;
  void onRetarget(const Block &, const Block &before, uint64_t time_ns) override;
  void onProcessEnd(uint32_t, const ProcessFate &fate) override { endAt(fate.time_ns); }
  void conclude(Conclusion &) const override;

private:
  // The blocks that ended with the last process which has ended so far.
  struct Ended {
    uint64_t time_ns = 0;
    std::map<SiteId, PartSum> sums;
  };

  uint32_t partOf(uint64_t time_ns) {
    return parts_.of(time_ns, [this] { join(); });
  }
  PartChanges &changesOf(SiteId site) { return elementAt(changes_, site.index); }
  void join();
  void endAt(uint64_t time_ns);
  std::vector<Turnover::Line> lines(Conclusion &) const;
  std::vector<Turnover::Launches> launches() const;

  const Labels *labels_ = nullptr;
  TimeParts parts_;
  std::vector<PartChanges> changes_; // by site
  Ended ended_;
  LaunchedKernels kernels_;
  std::vector<LaunchCounts> launches_; // by label; 0 = the name is not known
};

void TurnoverAnalyzer::join() {
  for (PartChanges &changes : changes_)
    changes.join();
  for (LaunchCounts &counts : launches_)
    joinNeighbours(
        counts, [](auto &count) -> uint32_t & { return count.first; },
        [](auto &to, const auto &from) { to.second += from.second; });
}

// The last edge is at the last end of a process, and its blocks are alive there. Blocks of an earlier end are gone.
void TurnoverAnalyzer::endAt(uint64_t time_ns) {
  if (time_ns <= ended_.time_ns)
    return;
  if (!ended_.sums.empty()) {
    const uint32_t part = partOf(ended_.time_ns);
    for (const auto &[site, sum] : ended_.sums)
      changesOf(site).in(part).other += minus(sum);
  }
  ended_ = {time_ns, {}};
  partOf(time_ns); // so that the parts reach this time
}

void TurnoverAnalyzer::onEvent(const StreamEvent &event, SiteId) {
  kernels_.onEvent(event, *labels_);
  if (event.event.header().kind != abi::EventKind::Launch)
    return;
  const uint32_t part = partOf(event.event.header().time);
  LaunchCounts &counts = elementAt(launches_, kernels_.lastOf(event.process, event.stream).index);
  if (counts.empty() || counts.back().first != part)
    counts.emplace_back(part, 0);
  ++counts.back().second;
}

void TurnoverAnalyzer::onAlloc(const Block &block, AllocCause cause, uint64_t time_ns) {
  if (block.reserve)
    return;
  const uint32_t part = partOf(time_ns);
  PartChanges &changes = changesOf(block.site);
  if (cause == AllocCause::WasThere)
    changes.before += partSumOf(block);
  else if (cause == AllocCause::Remainder)
    changes.in(part).other += partSumOf(block);
  else if (cause == AllocCause::Restored)
    changes.in(part).freed += minus(partSumOf(block));
  else
    changes.in(part).born += partSumOf(block);
}

void TurnoverAnalyzer::onFree(const Block &block, FreeCause cause, uint64_t time_ns) {
  if (block.reserve)
    return;
  if (isEnd(cause)) {
    endAt(time_ns);
    ended_.sums[block.site] += partSumOf(block);
    return;
  }
  const uint32_t part = partOf(time_ns);
  PartChange &change = changesOf(block.site).in(part);
  if (cause == FreeCause::Remainder)
    change.other += minus(partSumOf(block));
  else
    change.freed += partSumOf(block);
}

// From its birth, the block belonged to the caller of the wrapper.
void TurnoverAnalyzer::onRetarget(const Block &block, const Block &before, uint64_t) {
  if (block.reserve || block.site == before.site)
    return;
  if (parts_.areAfter(block.time_ns)) {
    changesOf(before.site).before += minus(partSumOf(block));
    changesOf(block.site).before += partSumOf(block);
    return;
  }
  const uint32_t part = partOf(block.time_ns);
  changesOf(before.site).in(part).born += minus(partSumOf(block));
  changesOf(block.site).in(part).born += partSumOf(block);
}

// Returns the numbers of the lists with the most of one sum, and with the most of another.
template <class A, class B> std::vector<bool> mostOfBoth(size_t size, size_t most, A &&a, B &&b) {
  std::vector<bool> kept(size);
  std::vector<size_t> order(size);
  const auto keep = [&](auto &&valueOf) {
    for (size_t i = 0; i < size; ++i)
      order[i] = i;
    std::ranges::stable_sort(order, std::greater(), valueOf);
    for (size_t i = 0; i < std::min(most / 2, size); ++i)
      kept[order[i]] = true;
  };
  keep(a);
  keep(b);
  return kept;
}

// Keeps the places that needed the most bytes, and those that allocated the most.
std::vector<Turnover::Line> TurnoverAnalyzer::lines(Conclusion &conclusion) const {
  std::vector<SiteShare> sites;
  for (uint32_t index = 0; index < changes_.size(); ++index)
    if (!changes_[index].list.empty() || changes_[index].before != PartSum{})
      sites.push_back({.site = {index}});
  const std::vector<PlaceGroup> groups = conclusion.lines.byPlace(sites);
  std::vector<PartChanges> of_place(groups.size());
  for (size_t i = 0; i < groups.size(); ++i)
    for (const SiteShare &share : groups[i].shares)
      of_place[i] += changes_[share.site.index];
  const std::vector<bool> is_kept = mostOfBoth(
      groups.size(), Turnover::kMostPlaces, [&](size_t i) { return of_place[i].mostBytes(); },
      [&](size_t i) { return of_place[i].bornBytes(); });
  std::vector<std::pair<int64_t, Turnover::Line>> kept;
  PartChanges others;
  for (size_t i = 0; i < groups.size(); ++i)
    if (is_kept[i])
      kept.emplace_back(of_place[i].mostBytes(),
                        Turnover::Line{std::make_shared<const SiteText>(textOf(conclusion.catalog, groups[i].place)),
                                       of_place[i].before, of_place[i].list});
    else
      others += of_place[i];
  std::ranges::stable_sort(kept, [](const auto &a, const auto &b) { return a.first > b.first; });
  std::vector<Turnover::Line> lines;
  for (auto &[bytes, line] : kept)
    lines.push_back(std::move(line));
  if (groups.size() > kept.size())
    lines.push_back({nullptr, others.before, std::move(others.list)});
  return lines;
}

uint64_t launchesIn(const LaunchCounts &counts) {
  uint64_t sum = 0;
  for (const auto &[part, count] : counts)
    sum += count;
  return sum;
}

// Keeps the kernels that were launched most often.
std::vector<Turnover::Launches> TurnoverAnalyzer::launches() const {
  std::vector<Turnover::Launches> all;
  for (uint32_t index = 0; index < launches_.size(); ++index)
    if (!launches_[index].empty())
      all.push_back({std::string(labels_->textOf(LabelId{index})), false, launches_[index]});
  std::ranges::stable_sort(all, std::greater(), [](const auto &launches) { return launchesIn(launches.counts); });
  if (all.size() <= Turnover::kMostKernels)
    return all;
  std::map<uint32_t, uint64_t> others;
  for (size_t i = Turnover::kMostKernels; i < all.size(); ++i)
    for (const auto &[part, count] : all[i].counts)
      others[part] += count;
  all.resize(Turnover::kMostKernels);
  all.push_back({"others", true, LaunchCounts(others.begin(), others.end())});
  return all;
}

void TurnoverAnalyzer::conclude(Conclusion &conclusion) const {
  Pictures pictures = conclusion.result.pictures ? *conclusion.result.pictures : Pictures{};
  Turnover &turnover = pictures.turnover;
  turnover.edges = parts_.edges(ended_.time_ns != 0 ? std::optional(ended_.time_ns) : std::nullopt);
  for (uint64_t &edge_ns : turnover.edges)
    edge_ns = sinceStart(edge_ns, conclusion.start_ns);
  turnover.lines = lines(conclusion);
  turnover.launches = launches();
  conclusion.result.pictures = std::make_shared<const Pictures>(std::move(pictures));
}

} // namespace

std::unique_ptr<Analyzer> makeTurnover() { return std::make_unique<TurnoverAnalyzer>(); }

} // namespace msleaks::analysis::inline report
