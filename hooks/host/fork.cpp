// Hook of _Fork. Unlike fork, _Fork calls no handlers of pthread_atfork. So the hook itself calls __msl_forked in the
// child: otherwise the child would add to its parent's counters.
#include "core/registry.h"

#include "msleaks/runtime/leaving.h"

#include <cerrno>
#include <dlfcn.h>

namespace {

using Fork = int (*)();
constinit Fork real_fork = nullptr;

// Runs when this library is loaded: _Fork may be called in a signal handler, which must not look anything up.
[[gnu::constructor]] void findRealFork() noexcept {
  real_fork = reinterpret_cast<Fork>(msleaks::hooks::lookUp(RTLD_NEXT, "_Fork"));
}

} // namespace

extern "C" [[gnu::visibility("default")]] int msl_fork() noexcept __asm__("_Fork");

int msl_fork() noexcept {
  if (real_fork == nullptr) { // glibc has _Fork since version 2.34
    errno = ENOSYS;
    return -1;
  }
  const int pid = real_fork();
  if (pid == 0)
    __msl_forked();
  return pid;
}
