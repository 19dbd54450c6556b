// _Fork, which unlike fork calls no handlers of pthread_atfork: the child has to leave what it shares with its parent.
#include "registry.h"

#include "msleaks/runtime/leaving.h"

#include <cerrno>
#include <dlfcn.h>

namespace {

using Fork = int (*)();
constinit Fork real_fork = nullptr;

// Once this library is loaded: _Fork may be called in a signal handler.
[[gnu::constructor]] void findRealFork() noexcept {
  real_fork = reinterpret_cast<Fork>(msleaks::hooks::lookUp(RTLD_NEXT, "_Fork"));
}

} // namespace

extern "C" [[gnu::visibility("default")]] int msl_fork() noexcept __asm__("_Fork");

int msl_fork() noexcept {
  if (real_fork == nullptr) { // glibc has it since 2.34
    errno = ENOSYS;
    return -1;
  }
  const int pid = real_fork();
  if (pid == 0)
    __msl_forked();
  return pid;
}
