// A look at the watched blocks: what of them has changed, and who changed it.
#pragma once

#include "watch_list.h"

namespace msleaks::runtime {

// A look: who has changed what it finds, and how it reads.
struct Look {
  WatchList &list;
  Thread &thread;
  const Operation *cause;  // null: the range that the thread is in, or nothing
  const Operation *reader; // null: only memory of the host is read
  uint32_t here;           // where the thread is; 0 = not known
};

// "copy", "fill", or the kernel's name.
uint64_t labelOfOperation(const Operation &) noexcept;

// With the list held.
void lookAtAll(const Look &) noexcept;
void lookFirst(const Look &, WatchedBlock &) noexcept; // at one that is watched from now on

} // namespace msleaks::runtime
