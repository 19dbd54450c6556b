#include "analysis/reach/robust_futex.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace msleaks::analysis::inline reach {

// When the thread ends, the kernel follows the list head_ -> entry_ -> head_. It finds the word at a fixed distance
// from the entry.
RobustFutex::RobustFutex(std::atomic<uint32_t> &word) : word_(word) {
  head_.list.next = &entry_;
  head_.futex_offset = reinterpret_cast<char *>(&word_) - reinterpret_cast<char *>(&entry_);
  head_.list_op_pending = nullptr;
  entry_.next = &head_.list;
  syscall(SYS_get_robust_list, 0, &before_, &before_bytes_);
  if (syscall(SYS_set_robust_list, &head_, sizeof head_) == 0)
    word_.store(static_cast<uint32_t>(syscall(SYS_gettid)), std::memory_order_release);
}

RobustFutex::~RobustFutex() {
  word_.store(0, std::memory_order_release);
  syscall(SYS_set_robust_list, before_, before_bytes_);
}

} // namespace msleaks::analysis::inline reach
