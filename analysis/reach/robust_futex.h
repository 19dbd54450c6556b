// A word of shared memory that shows when the thread that holds it has ended, even if it was killed.
#pragma once

#include <atomic>
#include <cstdint>
#include <linux/futex.h>

namespace msleaks::analysis::inline reach {

// The thread that constructs the object must also destroy it, and holds the word in between. Meanwhile it must hold no
// robust mutex of libc: the kernel has one list for each thread, and this list replaces libc's.
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
