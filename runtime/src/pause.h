// The number of events after a refusal before shared memory is asked for again. On a full file system each event would
// cost system calls.
#pragma once

#include "ring.h"

#include <atomic>

namespace msleaks::runtime {

class Pause {
public:
  void begin() noexcept { left_.store(kEventsBetweenTries, std::memory_order_relaxed); }

  // One event goes by.
  bool holds() noexcept {
    uint32_t left = left_.load(std::memory_order_relaxed);
    while (left != 0)
      if (left_.compare_exchange_weak(left, left - 1, std::memory_order_relaxed))
        return true;
    return false;
  }

private:
  std::atomic<uint32_t> left_{0};
};

} // namespace msleaks::runtime
