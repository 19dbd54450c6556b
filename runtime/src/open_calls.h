// Maintains the list of a thread's instrumented allocator calls that have not returned, innermost last (Thread::open).
//
// A call is identified by its site and its frame (a stack pointer), since two open calls never share a frame. A call
// may end by an exception, a longjmp or a tail call, without a callback. Afterwards the stack pointer is at the call's
// frame or above. So a later callback whose stack pointer is there ends the call, if both frames are on the same stack.
// A call stays open when a fiber yields inside an allocator, or a signal handler runs on a stack of its own. If it is
// not certain that a call has ended, the call stays open. This only slows down the thread's hooks. When there are too
// many open calls, the oldest call is removed from the list.
#pragma once

#include "msleaks/abi/symbols.h"
#include "msleaks/runtime/thread.h"

namespace msleaks::runtime {

// Adds a call to the list. `frame` is the callback's callerStackPointer(). `old` is the block whose Free a realloc has
// recorded; 0 = none.
void openCall(Thread &thread, uint64_t frame, uint32_t site, abi::Traits traits, uint64_t old) noexcept;

// Ends the call and the open calls inside it, and returns the call. Its `remembered` is then the number of Allocs that
// this thread has recorded during the call. If there is no such call, the result's site is 0.
OpenCall closeCall(Thread &thread, uint64_t frame, uint32_t site) noexcept;

// Whether an instrumented allocator of the C or C++ heap makes this mapping to get memory for its blocks. Such a
// mapping is not recorded. A mapping that a real allocator makes inside a hook is not recorded either.
bool isSupply(const Thread &thread, uint64_t frame, abi::Traits traits) noexcept;

} // namespace msleaks::runtime
