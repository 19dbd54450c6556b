// Delays the next request for shared memory after a request was refused. The delay is a number of events. Without this
// delay, each event on a full file system would cost system calls.
#pragma once

#include "ring.h"

#include <atomic>

namespace msleaks::runtime {

class Pause {
public:
  void begin() noexcept { left_.store(kEventsBetweenTries, std::memory_order_relaxed); }

  // Whether the pause still lasts. Each call counts one event.
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
