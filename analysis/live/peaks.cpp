#include "analysis/live/peaks.h"

#include <algorithm>

namespace msleaks::analysis::inline live {

void PeakTracker::move(CohortId from, CohortId to, uint64_t bytes, uint64_t since_ns) {
  const uint64_t number = clock_.number();
  elementAt(sums_, from.index).touch(number);
  elementAt(sums_, to.index).touch(number); // may move the elements of sums_
  AtPeak<BlockSum> &giver = sums_[from.index], &taker = sums_[to.index];
  take(giver.touch(number), bytes);
  taker.touch(number) += {bytes, 1};
  const BlockSum &then = giver.then(number);
  if (since_ns > clock_.timeNs() || then.count == 0 || then.bytes < bytes)
    return;
  take(giver.changeThen(number), bytes);
  taker.changeThen(number) += {bytes, 1};
}

std::vector<CohortShare> PeakTracker::shares() const {
  std::vector<CohortShare> shares;
  for (uint32_t index = 0; index < sums_.size(); ++index)
    if (const BlockSum &then = sums_[index].then(clock_.number()); then.count != 0)
      shares.push_back({CohortId{index}, then.bytes, then.count});
  return shares;
}

// The tracker of the block's device. Null: all blocks of the heap are on device 0, so the heap's own tracker is enough.
PeakTracker *Peaks::trackerOfDevice(const Block &block) {
  const auto heap = static_cast<size_t>(block.heap);
  std::vector<PeakTracker> &devices = devices_[heap];
  if (devices.empty()) {
    if (block.device == 0)
      return nullptr;
    devices.push_back(heaps_[heap]); // until now, all blocks were on device 0
  }
  return &elementAt(devices, block.device);
}

void Peaks::onAlloc(const Block &block, AllocCause, uint64_t time_ns) {
  if (!counts(block))
    return;
  if (PeakTracker *of_device = trackerOfDevice(block))
    of_device->add(block.cohort, block.size, time_ns);
  heaps_[static_cast<size_t>(block.heap)].add(block.cohort, block.size, time_ns);
  if (!abi::isPhysical(block.heap))
    return;
  physical_.add(block.cohort, block.size, time_ns);
  clockOf(block.process).add(block.size, time_ns);
}

void Peaks::onFree(const Block &block, FreeCause, uint64_t) {
  if (!counts(block))
    return;
  if (PeakTracker *of_device = trackerOfDevice(block))
    of_device->remove(block.cohort, block.size);
  heaps_[static_cast<size_t>(block.heap)].remove(block.cohort, block.size);
  if (!abi::isPhysical(block.heap))
    return;
  physical_.remove(block.cohort, block.size);
  clockOf(block.process).remove(block.size);
}

void Peaks::onRetarget(const Block &block, const Block &before, uint64_t) {
  if (!counts(block))
    return;
  if (PeakTracker *of_device = trackerOfDevice(block))
    of_device->move(before.cohort, block.cohort, block.size, block.time_ns);
  heaps_[static_cast<size_t>(block.heap)].move(before.cohort, block.cohort, block.size, block.time_ns);
  if (abi::isPhysical(block.heap))
    physical_.move(before.cohort, block.cohort, block.size, block.time_ns);
}

} // namespace msleaks::analysis::inline live
