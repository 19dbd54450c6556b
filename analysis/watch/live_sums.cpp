#include "analysis/watch/live_sums.h"

#include "analysis/base/tables.h"

namespace msleaks::analysis::inline watch {
namespace {

void add(BlockSum &to, uint64_t bytes) { to += {bytes, 1}; }
void take(BlockSum &from, uint64_t bytes) {
  from.bytes -= bytes;
  --from.count;
}

} // namespace

void LiveSums::onAlloc(const Block &block, AllocCause, uint64_t) {
  if (block.reserve)
    return;
  add(elementAt(now_, block.cohort.index), block.size);
  if (abi::isPhysical(block.heap))
    add(alive_, block.size);
}

void LiveSums::onFree(const Block &block, FreeCause, uint64_t) {
  if (block.reserve)
    return;
  take(elementAt(now_, block.cohort.index), block.size);
  if (abi::isPhysical(block.heap))
    take(alive_, block.size);
}

// The block belongs to the new cohort from its allocation on. So this also changes the sums at the moment, if the block
// was alive then.
void LiveSums::onRetarget(const Block &block, const Block &before, uint64_t) {
  if (block.reserve)
    return;
  take(elementAt(now_, before.cohort.index), block.size);
  add(elementAt(now_, block.cohort.index), block.size);
  if (moment_ns_ == 0 || block.time_ns > moment_ns_)
    return;
  take(elementAt(at_moment_, before.cohort.index), block.size);
  add(elementAt(at_moment_, block.cohort.index), block.size);
}

std::vector<PlaceSum> LiveSums::sums(const Cohorts &cohorts) const {
  std::vector<BlockSum> at_peak(cohorts.size());
  peaks_->physical().forEach(
      [&](CohortId cohort, const BlockSum &, const BlockSum &then) { at_peak[cohort.index] = then; });
  std::vector<PlaceSum> sums;
  for (uint32_t index = 1; index < cohorts.size(); ++index) {
    const Cohort &cohort = cohorts[{index}];
    const PlaceSum sum{cohort.site,   cohort.process, cohort.heap, valueAt(now_, index), valueAt(at_moment_, index),
                       at_peak[index]};
    if (sum.now.count != 0 || sum.at_moment.count != 0 || sum.at_peak.count != 0)
      sums.push_back(sum);
  }
  return sums;
}

void LiveSums::setMoment(uint64_t time_ns) {
  at_moment_ = now_;
  moment_ns_ = time_ns;
}

} // namespace msleaks::analysis::inline watch
