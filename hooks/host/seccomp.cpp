// Hooks of prctl and syscall, by which a program installs a seccomp filter. The runtime has to know before the filter
// is active, because each later system call of the runtime may kill the program.
#include "core/registry.h"

#include "msleaks/runtime/sandbox.h"

#include <dlfcn.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

using namespace msleaks;

namespace {

constexpr int kSetSeccomp = 22; // PR_SET_SECCOMP

using Prctl = int (*)(int, long, long, long, long);
// On x86-64 the sixth argument of a system call is on the stack. It stays there, because the hook ends with a jump to
// the real function.
#if defined(__x86_64__)
#define MSL_PARAMETERS long number, long a, long b, long c, long d, long e
#define MSL_ARGUMENTS number, a, b, c, d, e
using Call = long (*)(long, long, long, long, long, long);
#else
#define MSL_PARAMETERS long number, long a, long b, long c, long d, long e, long f
#define MSL_ARGUMENTS number, a, b, c, d, e, f
using Call = long (*)(long, long, long, long, long, long, long);
#endif

struct Real {
  Prctl prctl;
  Call syscall;
};
constinit Real real{};

// Runs when this library is loaded: in the child of a fork, the loader's lock may be held.
[[gnu::constructor, gnu::noinline, gnu::cold]] void findRealCalls() noexcept {
  real.prctl = reinterpret_cast<Prctl>(hooks::lookUp(RTLD_NEXT, "prctl"));
  real.syscall = reinterpret_cast<Call>(hooks::lookUp(RTLD_NEXT, "syscall"));
}

bool installsFilter(long number, long first) noexcept {
  if (number == SYS_prctl)
    return static_cast<int>(first) == kSetSeccomp;
  return number == SYS_seccomp && (first == SECCOMP_SET_MODE_STRICT || first == SECCOMP_SET_MODE_FILTER);
}

template <class F> auto installing(bool is_strict, F install) noexcept {
  __msl_enter_sandbox(is_strict);
  const auto result = install();
  if (result < 0)
    __msl_stay_outside();
  return result;
}

// Neither prctl nor seccomp has a sixth argument.
[[gnu::noinline, gnu::cold]] long install(MSL_PARAMETERS) noexcept {
  const bool is_strict = number == SYS_prctl ? b == SECCOMP_MODE_STRICT : a == SECCOMP_SET_MODE_STRICT;
  return installing(is_strict, [=] { return real.syscall(MSL_ARGUMENTS); });
}

} // namespace

// libc's headers declare these functions in another way, so they have other names in C++.
extern "C" {
[[gnu::visibility("default")]] int msl_prctl(int, long, long, long, long) noexcept __asm__("prctl");
[[gnu::visibility("default")]] long msl_syscall(MSL_PARAMETERS) noexcept __asm__("syscall");
}

int msl_prctl(int option, long a, long b, long c, long d) noexcept {
  if (real.prctl == nullptr)
    findRealCalls();
  const auto call = [=] { return real.prctl(option, a, b, c, d); };
  return option == kSetSeccomp ? installing(a == SECCOMP_MODE_STRICT, call) : call();
}

// The hook must have no stack frame while it is in the kernel: vfork and clone return twice.
#if !defined(__clang__)
[[gnu::optimize("O2")]]
#endif
long msl_syscall(MSL_PARAMETERS) noexcept {
  if (real.syscall == nullptr) [[unlikely]]
    findRealCalls();
  if (installsFilter(number, a)) [[unlikely]]
    return install(MSL_ARGUMENTS);
#if defined(__clang__)
  [[clang::musttail]]
#endif
  return real.syscall(MSL_ARGUMENTS);
}
