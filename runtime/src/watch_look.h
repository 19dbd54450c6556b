// Compares the watched blocks with their stored content. Such a look finds changed bytes, and the operation that
// changed them.
#pragma once

#include "watch_list.h"

namespace msleaks::runtime {

// The parameters of a look: the operation that is reported for a change, and the operation whose stream reads blocks.
struct Look {
  WatchList &list;
  Thread &thread;
  const Operation *cause;  // null: a change is reported for the thread's range, or without an operation
  const Operation *reader; // blocks are read by the operation's driver and stream; null: only host memory is read
  uint32_t here;           // the thread's site; 0 = not known
};

// Returns "copy", "fill", or the kernel's name.
uint64_t labelOfOperation(const Operation &) noexcept;

// Call with the lock of the list held.
void lookAtAll(const Look &) noexcept;
void lookFirst(const Look &, WatchedBlock &) noexcept; // for a block that is watched from now on

} // namespace msleaks::runtime
