// Follows Epoch events, to find blocks whose free may not be recorded.
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

  // Whether the block was alive at the start of a pause, or was allocated at that moment: it may have been freed since.
  bool mayHaveBeenFreed(uint64_t allocated_ns) const { return allocated_ns < unsure_until_ns_; }
  // Whether blocks may have been allocated unseen: then a free of an unknown block is no error.
  bool any() const { return any_; }
  // All Epoch events so far: a request to stop or to continue caused each of them.
  const std::vector<abi::EpochEvent> &epochs() const { return epochs_; }

private:
  uint64_t unsure_until_ns_ = 0;
  bool any_ = false;
  std::vector<abi::EpochEvent> epochs_;
};

} // namespace msleaks::analysis::inline live
