// Compares the watched blocks with their stored content (a look). A look finds changed bytes, and the operation that
// changed them.
#pragma once

#include "watch_list.h"

namespace msleaks::runtime {

// The parameters of a look.
struct Look {
  WatchList &list;
  Thread &thread;
  const Operation *cause;  // the operation that is reported for a change; null: the thread's range, or none
  const Operation *reader; // its driver and stream read the blocks; null: only host memory is read
  uint32_t here;           // the thread's site; 0 = not known
};

// Returns the label of the kernel's name ("kernel" if it is not known), of "fill", or of "copy".
uint64_t labelOfOperation(const Operation &) noexcept;

// Call with the lock of the list held.
void lookAtAll(const Look &) noexcept;
void lookFirst(const Look &, WatchedBlock &) noexcept; // the first look at a new watched block

} // namespace msleaks::runtime
