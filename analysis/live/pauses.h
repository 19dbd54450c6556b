// Follows Epoch events, to find blocks whose free may not have been recorded.
#pragma once

#include "msleaks/abi/session.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace msleaks::analysis::inline live {

class Pauses {
public:
  void apply(const abi::EpochEvent &epoch) {
    epochs_.push_back(epoch);
    const bool sees_frees = epoch.enabled & abi::enabledBit(abi::EventKind::Free);
    const bool sees_allocs = epoch.enabled & abi::enabledBit(abi::EventKind::Alloc);
    any_ = any_ || !sees_allocs;
    if (!sees_frees)
      unsure_until_ns_ = UINT64_MAX;
    else if (unsure_until_ns_ == UINT64_MAX)
      unsure_until_ns_ = epoch.header.time;
  }

  // A block that was alive when a pause began, or was recorded while it began: nobody knows whether it was freed.
  bool mayHaveBeenFreed(uint64_t allocated_ns) const { return allocated_ns < unsure_until_ns_; }
  // Blocks may have been allocated unseen, so a free of an unknown one is no fault.
  bool any() const { return any_; }
  // All that were applied: somebody says stop or go for each of them.
  const std::vector<abi::EpochEvent> &epochs() const { return epochs_; }

private:
  uint64_t unsure_until_ns_ = 0;
  bool any_ = false;
  std::vector<abi::EpochEvent> epochs_;
};

} // namespace msleaks::analysis::inline live
