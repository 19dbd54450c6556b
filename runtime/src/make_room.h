// Makes room for an event when a thread's ring is full.
#pragma once

#include "msleaks/runtime/record.h"

namespace msleaks::runtime {

// Returns a ring with room for an event of `slots` slots; it may be a new ring of the thread. Returns null if there is
// no room. In that case the caller counts the event as dropped. `depth` is the thread's number of unfinished records
// before this record. If it is above 0, the function does not wait and does not replace the ring.
abi::RingHeader *makeRoom(Thread &thread, unsigned slots, uint32_t depth) noexcept;

} // namespace msleaks::runtime
