#include "analysis/watch/live_sums.h"

#include "analysis/base/element_at.h"

namespace msleaks::analysis {
namespace {

void add(BlockSum &to, uint64_t bytes) { to += {bytes, 1}; }
void take(BlockSum &from, uint64_t bytes) {
  from.bytes -= bytes;
  --from.count;
}

} // namespace

void LiveSums::onAlloc(const Block &block, AllocCause, uint64_t time_ns) {
  if (block.reserve)
    return;
  add(elementAt(now_, block.cohort.index), block.size);
  if (!abi::isPhysical(block.heap))
    return;
  tracker_.add(block.cohort, block.size, time_ns);
  add(alive_, block.size);
}

void LiveSums::onFree(const Block &block, FreeCause, uint64_t) {
  if (block.reserve)
    return;
  take(elementAt(now_, block.cohort.index), block.size);
  if (!abi::isPhysical(block.heap))
    return;
  tracker_.remove(block.cohort, block.size);
  take(alive_, block.size);
}

// The block belonged there from its birth on: also at the moment, if it was alive then.
void LiveSums::onRetarget(const Block &block, const Block &before, uint64_t) {
  if (block.reserve)
    return;
  take(elementAt(now_, before.cohort.index), block.size);
  add(elementAt(now_, block.cohort.index), block.size);
  if (abi::isPhysical(block.heap))
    tracker_.move(before.cohort, block.cohort, block.size, block.time_ns);
  if (moment_ns_ == 0 || block.time_ns > moment_ns_)
    return;
  take(elementAt(at_moment_, before.cohort.index), block.size);
  add(elementAt(at_moment_, block.cohort.index), block.size);
}

void LiveSums::setMoment(uint64_t time_ns) {
  at_moment_ = now_;
  moment_ns_ = time_ns;
}

} // namespace msleaks::analysis
