// The instrumented allocator calls under way in a thread, innermost last (Thread::open).
//
// A call is named by its site and its frame: two calls under way never share a frame. A call may be left by an
// exception or a longjmp, or have been a finished tail call. It is recognised by the stack, which has come back to its
// frame or above. Only frames of one stack are compared. A fiber that yields inside an allocator, and a handler on a
// stack of its own, leave calls open that a higher frame does not end. A doubtful call stays open. That costs the
// thread a longer way through the hooks and nothing else; the oldest makes room.
#pragma once

#include "msleaks/abi/symbols.h"
#include "msleaks/runtime/thread.h"

namespace msleaks::runtime {

// `frame`: callerStackPointer() of the callback. `old`: the block that a realloc took; 0 = none.
void openCall(Thread &thread, uint64_t frame, uint32_t site, abi::Traits traits, uint64_t old) noexcept;

// Ends the call, with those that were left open inside it. `remembered` says then how many of this thread's last Allocs
// were recorded meanwhile. Site 0: there is no such call.
OpenCall closeCall(Thread &thread, uint64_t frame, uint32_t site) noexcept;

// A mapping made by an allocator of the C or C++ heap that is itself instrumented: its supply, as behind a hook.
bool isSupply(const Thread &thread, uint64_t frame, abi::Traits traits) noexcept;

} // namespace msleaks::runtime
