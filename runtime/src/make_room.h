// Makes room for a thread when its ring is full.
#pragma once

#include "msleaks/runtime/record.h"

namespace msleaks::runtime {

// Room for an event of `slots`, or null: the event is to be counted as dropped. The ring may be another one than
// before. `depth` is the thread's before this record: above 0 nobody waits and no ring is exchanged.
abi::RingHeader *makeRoom(Thread &thread, unsigned slots, uint32_t depth) noexcept;

} // namespace msleaks::runtime
