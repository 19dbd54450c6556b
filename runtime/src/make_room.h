// Makes room for an event when a thread's ring is full.
#pragma once

#include "msleaks/runtime/record.h"

namespace msleaks::runtime {

// Returns a ring with room for an event of `slots`; it may be a new one. Returns null if there is no room; then the
// caller counts the event as dropped. `depth` is the thread's depth before this record. If it is above 0, the function
// does not wait and the thread keeps its ring.
abi::RingHeader *makeRoom(Thread &thread, unsigned slots, uint32_t depth) noexcept;

} // namespace msleaks::runtime
