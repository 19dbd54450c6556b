#include "analysis/watch/session_sums.h"

#include "analysis/trace/bytes.h"

#include <map>
#include <tuple>

namespace msleaks::analysis::inline watch {
namespace {

constexpr uint64_t kMagic = 0x31'53'4d'55'53; // "SUMS1"

// Adds up cohorts that look the same in a frame.
class BySite {
public:
  explicit BySite(const Cohorts &cohorts) : cohorts_(cohorts) {}
  void add(CohortId id, const BlockSum &now, const BlockSum &at_peak) {
    const Cohort &cohort = cohorts_[id];
    PlaceSum &sum = sums_[{cohort.site, cohort.process, cohort.heap}];
    sum.site = cohort.site;
    sum.process = cohort.process;
    sum.heap = cohort.heap;
    sum.now += now;
    sum.at_peak += at_peak;
  }
  std::vector<PlaceSum> take() const {
    std::vector<PlaceSum> list;
    for (const auto &[key, sum] : sums_)
      list.push_back(sum);
    return list;
  }

private:
  const Cohorts &cohorts_;
  std::map<std::tuple<SiteId, uint32_t, abi::Heap>, PlaceSum> sums_;
};

void write(ByteWriter &to, const BlockSum &sum) {
  to.varint(sum.bytes);
  to.varint(sum.count);
}
BlockSum readSum(ByteReader &from) {
  const uint64_t bytes = from.varint();
  return {bytes, from.varint()};
}

} // namespace

SessionSums sumsOf(const RunningReport &running) {
  const RunAnalysis &analysis = running.analysis();
  const LiveSet &live = analysis.pipeline.liveSet();
  SessionSums sums;
  sums.events = running.trace().events();
  sums.reached_ns = running.trace().reachedNs();
  sums.steps = live.timeline().steps().size();
  if (sums.steps != 0)
    sums.step = live.timeline().steps().back();
  const Peaks &peaks = analysis.pipeline.peaks();
  sums.peak_bytes = peaks.physical().clock().bytes();
  sums.peak_time_ns = peaks.physical().clock().timeNs();
  BySite by_site(live.cohorts());
  peaks.physical().forEach([&](CohortId cohort, const BlockSum &now, const BlockSum &at_peak) {
    sums.alive += now;
    by_site.add(cohort, now, at_peak);
  });
  for (uint8_t heap = 0; heap < static_cast<uint8_t>(abi::Heap::Count); ++heap)
    if (!abi::isPhysical(static_cast<abi::Heap>(heap)))
      peaks.of(static_cast<abi::Heap>(heap)).forEach([&](CohortId cohort, const BlockSum &now, const BlockSum &) {
        by_site.add(cohort, now, {});
      });
  sums.sums = by_site.take();
  return sums;
}

std::optional<std::vector<uint8_t>> encode(const SessionSums &sums, const SiteCatalog &catalog) {
  std::vector<SiteId> sites; // ascending, because the sums are sorted by site
  for (const PlaceSum &sum : sums.sums)
    if (sum.site.known() && (sites.empty() || sites.back() != sum.site))
      sites.push_back(sum.site);
  const std::vector<SiteNumber> numbers = catalog.numbersOf(sites);
  if (numbers.size() != sites.size())
    return std::nullopt;
  ByteWriter to;
  to.varint(kMagic);
  to.varint(sums.events);
  to.varint(sums.reached_ns);
  write(to, sums.alive);
  to.varint(sums.peak_bytes);
  to.varint(sums.peak_time_ns);
  to.varint(sums.steps);
  const Timeline::Step step = sums.step.value_or(Timeline::Step{});
  to.varint(step.time_ns);
  to.varint(step.number);
  to.varint(step.process);
  to.varint(sums.sums.size());
  auto site = sites.begin();
  for (const PlaceSum &sum : sums.sums) {
    if (site != sites.end() && *site != sum.site && sum.site.known())
      ++site;
    const SiteNumber number = sum.site.known() ? numbers[static_cast<size_t>(site - sites.begin())] : SiteNumber{};
    to.varint(number.process);
    to.varint(number.number);
    to.varint(sum.process);
    to.varint(static_cast<uint64_t>(sum.heap));
    write(to, sum.now);
    write(to, sum.at_peak);
  }
  return std::vector<uint8_t>(to.written().begin(), to.written().end());
}

std::optional<SessionSums> decodeSums(std::span<const uint8_t> bytes, SiteCatalog &catalog) {
  ByteReader from(bytes);
  if (from.varint() != kMagic)
    return std::nullopt;
  SessionSums sums;
  sums.events = from.varint();
  sums.reached_ns = from.varint();
  sums.alive = readSum(from);
  sums.peak_bytes = from.varint();
  sums.peak_time_ns = from.varint();
  sums.steps = from.varint();
  const Timeline::Step step{from.varint(), from.varint(), static_cast<uint32_t>(from.varint())};
  if (sums.steps != 0)
    sums.step = step;
  for (uint64_t count = from.varint(); count > 0 && !from.failed(); --count) {
    PlaceSum sum;
    const auto process = static_cast<uint32_t>(from.varint());
    sum.site = catalog.find(process, static_cast<uint32_t>(from.varint()));
    sum.process = static_cast<uint32_t>(from.varint());
    const uint64_t heap = from.varint();
    if (heap >= static_cast<uint64_t>(abi::Heap::Count))
      return std::nullopt;
    sum.heap = static_cast<abi::Heap>(heap);
    sum.now = readSum(from);
    sum.at_peak = readSum(from);
    sums.sums.push_back(sum);
  }
  return from.failed() || from.left() != 0 ? std::nullopt : std::optional(std::move(sums));
}

} // namespace msleaks::analysis::inline watch
