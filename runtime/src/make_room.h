// Makes room for a thread when its ring is full.
#pragma once

#include "msleaks/runtime/record.h"

namespace msleaks::runtime {

// Returns a ring with room for an event of `slots`, or null: the caller counts the event as dropped. The ring may be a
// new one. `depth` is the thread's depth before this record: above 0 it does not wait and keeps its ring.
abi::RingHeader *makeRoom(Thread &thread, unsigned slots, uint32_t depth) noexcept;

} // namespace msleaks::runtime
