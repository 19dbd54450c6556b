// Makes a system call, on x86-64 and AArch64 without libc. A call of libc's syscall(2) would run a hook, since the
// hooks interpose syscall(2).
#pragma once

#include <cerrno>
#if !defined(__x86_64__) && !defined(__aarch64__)
#include <unistd.h>
#endif

namespace msleaks::runtime {

// Makes a system call, and returns the kernel's result. If the call fails, the result is the negated errno.
[[gnu::always_inline]] inline long rawCall(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                                           long f = 0) noexcept {
#if defined(__x86_64__)
  long result = number; // NOLINT(misc-const-correctness): the asm writes it
  register const long r10 __asm__("r10") = d;
  register const long r8 __asm__("r8") = e;
  register const long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "+a"(result)
                   : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
#else
  const long result = ::syscall(number, a, b, c, d, e, f);
  return result == -1 ? -errno : result;
#endif
}

// Converts the kernel's result to what libc's syscall returns: -1 with errno set for an error.
inline long withErrno(long result) noexcept {
  constexpr long kMaxErrno = 4095;
  if (result >= 0 || result < -kMaxErrno)
    return result;
  errno = static_cast<int>(-result);
  return -1;
}

} // namespace msleaks::runtime
