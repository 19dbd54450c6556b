// The one way from the runtime into the kernel. It is closed once the program forbids system calls (sandbox.h): then
// every call fails with EPERM and the kernel is not entered.
#pragma once

#include "msleaks/runtime/raw_call.h"
#include "msleaks/runtime/sandbox.h"
#include "msleaks/runtime/thread.h"

#include <type_traits>

namespace msleaks::runtime {

// A thread enters the kernel in three steps: it counts itself in Process::in_kernel, it looks whether the way is open,
// it calls. A thread that is about to install a filter closes the way and then waits until nobody is counted. A thread
// that holds its signals blocked stays counted and goes on to call: it has to finish what it is in the middle of.
[[nodiscard]] inline bool enterKernel() noexcept {
  __atomic_fetch_add(&__msl_process.in_kernel, 1, __ATOMIC_SEQ_CST);
  if (__msl_thread.must_finish != 0 || !isSandboxed())
    return true;
  __atomic_fetch_sub(&__msl_process.in_kernel, 1, __ATOMIC_SEQ_CST);
  return false;
}
inline void leaveKernel() noexcept { __atomic_fetch_sub(&__msl_process.in_kernel, 1, __ATOMIC_SEQ_CST); }

// Whether a call would come through now.
inline bool mayCallKernel() noexcept { return __msl_thread.must_finish != 0 || !isSandboxed(); }

template <class T> long wordOfArgument(T argument) noexcept {
  if constexpr (std::is_pointer_v<T>)
    return reinterpret_cast<long>(argument);
  else if constexpr (std::is_null_pointer_v<T>)
    return 0;
  else
    return static_cast<long>(argument);
}

// As libc's syscall.
template <class... Arguments> long callKernel(long number, Arguments... arguments) noexcept {
  if (!enterKernel())
    return withErrno(-EPERM);
  const long result = rawCall(number, wordOfArgument(arguments)...);
  leaveKernel();
  return withErrno(result);
}

} // namespace msleaks::runtime
