// Makes the runtime's system calls. After the runtime has forbidden its system calls (sandbox.h), each call fails with
// EPERM without entering the kernel.
#pragma once

#include "msleaks/runtime/raw_call.h"
#include "msleaks/runtime/sandbox.h"
#include "msleaks/runtime/thread.h"

#include <type_traits>

namespace msleaks::runtime {

// A thread counts itself in Process::in_kernel, checks whether calls are allowed, and then makes the call. A thread
// that is about to install a filter first forbids calls, and then waits until no thread is counted. A thread that has
// blocked its signals (must_finish) may still make calls, since it must unblock them.
[[nodiscard]] inline bool enterKernel() noexcept {
  __atomic_fetch_add(&__msl_process.in_kernel, 1, __ATOMIC_SEQ_CST);
  if (__msl_thread.must_finish != 0 || !isSandboxed())
    return true;
  __atomic_fetch_sub(&__msl_process.in_kernel, 1, __ATOMIC_SEQ_CST);
  return false;
}
inline void leaveKernel() noexcept { __atomic_fetch_sub(&__msl_process.in_kernel, 1, __ATOMIC_SEQ_CST); }

// Whether callKernel() would enter the kernel now.
inline bool mayCallKernel() noexcept { return __msl_thread.must_finish != 0 || !isSandboxed(); }

template <class T> long wordOfArgument(T argument) noexcept {
  if constexpr (std::is_pointer_v<T>)
    return reinterpret_cast<long>(argument);
  else if constexpr (std::is_null_pointer_v<T>)
    return 0;
  else
    return static_cast<long>(argument);
}

// Makes a system call, and returns the result as libc's syscall does.
template <class... Arguments> long callKernel(long number, Arguments... arguments) noexcept {
  if (!enterKernel())
    return withErrno(-EPERM);
  const long result = rawCall(number, wordOfArgument(arguments)...);
  leaveKernel();
  return withErrno(result);
}

} // namespace msleaks::runtime
