// Maintains the list of a thread's instrumented allocator calls that have not returned, innermost last (Thread::open).
//
// A call is identified by its site and its frame (a stack pointer). An exception, a longjmp or a tail call may end a
// call without a callback. The stack pointer is then at the call's frame or above. So a later callback with such a
// stack pointer ends the call, if both frames are on the same stack.
#pragma once

#include "msleaks/abi/symbol.h"
#include "msleaks/runtime/thread.h"

namespace msleaks::runtime {

// Adds a call to the list. `frame` is the callback's callerStackPointer(). `old` is the block whose Free was recorded
// for a realloc; 0 = none.
void openCall(Thread &thread, uint64_t frame, uint32_t site, abi::Traits traits, uint64_t old) noexcept;

// Ends the call and the open calls inside it. Returns the call, with the number of Allocs that this thread has recorded
// during the call in `remembered`. If there is no such call, the result's site is 0.
OpenCall closeCall(Thread &thread, uint64_t frame, uint32_t site) noexcept;

// Whether an instrumented allocator of the C or C++ heap makes this mapping for its blocks. Such a mapping is not
// recorded.
bool isSupply(const Thread &thread, uint64_t frame, abi::Traits traits) noexcept;

} // namespace msleaks::runtime
