// The instrumented allocator calls under way in a thread, innermost last (Thread::open).
//
// A call is named by its site and its frame: two calls under way never share a frame. A call may end by an exception, a
// longjmp or a tail call. Then the stack pointer is back at its frame, or above. Only frames of one stack are compared.
// A fiber that yields inside an allocator leaves a call open, which no higher frame ends. So does a handler on a stack
// of its own. A doubtful call stays open. That costs the thread a longer way through the hooks and nothing else; the
// oldest makes room.
#pragma once

#include "msleaks/abi/symbols.h"
#include "msleaks/runtime/thread.h"

namespace msleaks::runtime {

// `frame` is the callback's callerStackPointer(). `old` is the block that a realloc took; 0 = none.
void openCall(Thread &thread, uint64_t frame, uint32_t site, abi::Traits traits, uint64_t old) noexcept;

// Ends the call, and the calls that were left open inside it. `remembered` is then the number of this thread's last
// Allocs that were recorded meanwhile. Site 0: there is no such call.
OpenCall closeCall(Thread &thread, uint64_t frame, uint32_t site) noexcept;

// Whether a mapping is the supply of an instrumented allocator call of the C or C++ heap. It is not recorded, like a
// supply behind a hook.
bool isSupply(const Thread &thread, uint64_t frame, abi::Traits traits) noexcept;

} // namespace msleaks::runtime
