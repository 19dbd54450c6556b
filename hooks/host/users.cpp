// Hooks of setuid and similar functions. Before a process of root becomes another user, the runtime makes that user the
// owner of the process' files.
#include "core/registry.h"

#include "msleaks/runtime/leaving.h"

#include <cerrno>
#include <cstdint>

using namespace msleaks;

namespace {

using User = uint32_t;
constexpr User kUnchanged = UINT32_MAX;

struct Real {
  int (*setuid)(User);
  int (*seteuid)(User);
  int (*setreuid)(User, User);
  int (*setresuid)(User, User, User);
};
constinit Real real{};

// Runs when this library is loaded: in the child of a fork, the loader's lock may be held.
[[gnu::constructor]] void findRealOfUsers() noexcept {
  hooks::findNext(real.setuid, "setuid");
  hooks::findNext(real.seteuid, "seteuid");
  hooks::findNext(real.setreuid, "setreuid");
  hooks::findNext(real.setresuid, "setresuid");
}

template <class... Users> int become(int (*function)(Users...), User effective, Users... users) noexcept {
  if (function == nullptr) {
    errno = ENOSYS;
    return -1;
  }
  if (effective != kUnchanged)
    __msl_becomes_user(effective);
  return function(users...);
}

} // namespace

#pragma GCC visibility push(default)
// libc's headers declare these functions in another way, so they have other names in C++.
extern "C" {
int msl_setuid(User) noexcept __asm__("setuid");
int msl_seteuid(User) noexcept __asm__("seteuid");
int msl_setreuid(User, User) noexcept __asm__("setreuid");
int msl_setresuid(User, User, User) noexcept __asm__("setresuid");
}

int msl_setuid(User user) noexcept { return become(real.setuid, user, user); }
int msl_seteuid(User user) noexcept { return become(real.seteuid, user, user); }
int msl_setreuid(User own, User effective) noexcept { return become(real.setreuid, effective, own, effective); }
int msl_setresuid(User own, User effective, User saved) noexcept {
  return become(real.setresuid, effective, own, effective, saved);
}
#pragma GCC visibility pop
