// A word of shared memory that tells everybody when the thread that holds it has ended, however it was killed.
#pragma once

#include <atomic>
#include <cstdint>
#include <linux/futex.h>

namespace msleaks::analysis::inline reach {

// Held from its construction to its destruction, both in one thread. That thread holds no robust mutex of libc
// meanwhile: the kernel has one list for each thread, and this replaces it.
class RobustFutex {
public:
  explicit RobustFutex(std::atomic<uint32_t> &word);
  ~RobustFutex();
  RobustFutex(const RobustFutex &) = delete;
  RobustFutex &operator=(const RobustFutex &) = delete;

private:
  std::atomic<uint32_t> &word_;
  robust_list entry_;
  robust_list_head head_;
  robust_list_head *before_ = nullptr;
  size_t before_bytes_ = 0;
};

} // namespace msleaks::analysis::inline reach
