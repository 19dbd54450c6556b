// Hooks of exec and posix_spawn. The new program is not recorded if its environment does not name the session, or if it
// does not preload the hooks. The old process records this, so that the report can say so. The hooks do nothing else:
// they may run in the child of a vfork, which has its parent's memory, or in a signal handler.
#include "core/registry.h"

#include "msleaks/abi/session.h"
#include "msleaks/runtime/leaving.h"

#include <alloca.h>
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <spawn.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;

using namespace msleaks;

namespace {

struct Real {
  decltype(&::execve) execve;
  decltype(&::execvpe) execvpe;
  decltype(&::fexecve) fexecve;
  decltype(&::posix_spawn) posix_spawn, posix_spawnp;
};
constinit Real real{};

// Finds the functions when this library is loaded. In the child of a fork it would be too late: a thread that does not
// exist there may hold the loader's lock. __msl_attach makes the collector see a process that records nothing.
[[gnu::constructor]] void begin() noexcept {
  hooks::findNext(real.execve, "execve");
  hooks::findNext(real.execvpe, "execvpe");
  hooks::findNext(real.fexecve, "fexecve");
  hooks::findNext(real.posix_spawn, "posix_spawn");
  hooks::findNext(real.posix_spawnp, "posix_spawnp");
  __msl_attach();
}

// Whether a variable's value contains a text.
bool holds(char *const *environment, const char *name, const char *text) noexcept {
  const size_t length = std::strlen(name);
  for (; *environment != nullptr; ++environment)
    if (std::strncmp(*environment, name, length) == 0 && (*environment)[length] == '=' &&
        std::strstr(*environment + length, text) != nullptr)
      return true;
  return false;
}

bool isFollowed(char *const *environment) noexcept {
  return environment != nullptr && holds(environment, abi::kSessionVariable, "/") &&
         holds(environment, "LD_PRELOAD", "libmsleaks_hooks");
}

// Reports an exec and makes it. exec() returns only if it fails.
template <class Exec> int leave(const char *program, char *const *environment, Exec exec) noexcept {
  const uint32_t ticket = __msl_leaving(program, isFollowed(environment));
  const int status = exec();
  __msl_stayed(ticket);
  return status;
}

int spawn(decltype(&::posix_spawn) function, pid_t *child, const char *program,
          const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes, char *const *arguments,
          char *const *environment) noexcept {
  if (function == nullptr)
    return ENOSYS;
  pid_t pid = 0;
  const int status = function(&pid, program, actions, attributes, arguments, environment);
  if (status != 0)
    return status;
  if (child != nullptr)
    *child = pid;
  if (!isFollowed(environment))
    __msl_unfollowed(static_cast<uint32_t>(pid), program);
  return status;
}

int missing() noexcept {
  errno = ENOSYS;
  return -1;
}

// Returns the number of arguments of execl, execlp or execle, without the null at the end. `rest`: the arguments after
// the first one.
size_t countArguments(va_list rest) noexcept {
  va_list counted;
  va_copy(counted, rest);
  size_t count = 1;
  while (va_arg(counted, char *) != nullptr)
    ++count;
  va_end(counted);
  return count;
}

void takeArguments(char **array, const char *first, va_list rest) noexcept {
  array[0] = const_cast<char *>(first);
  for (size_t i = 0; array[i] != nullptr;)
    array[++i] = va_arg(rest, char *);
}

} // namespace

#define MSL_TAKE_ARGUMENTS(array, first)                                                                               \
  va_list rest;                                                                                                        \
  va_start(rest, first);                                                                                               \
  auto **array = static_cast<char **>(alloca((first != nullptr ? countArguments(rest) + 1 : 1) * sizeof(char *)));     \
  takeArguments(array, first, rest)

#pragma GCC visibility push(default)
extern "C" {

int execve(const char *path, char *const *arguments, char *const *environment) noexcept {
  return leave(path, environment, [=] {
    return real.execve != nullptr ? real.execve(path, arguments, environment)
                                  : static_cast<int>(::syscall(SYS_execve, path, arguments, environment));
  });
}

int execv(const char *path, char *const *arguments) noexcept { return execve(path, arguments, environ); }

int fexecve(int file, char *const *arguments, char *const *environment) noexcept {
  if (real.fexecve == nullptr)
    return missing();
  return leave("", environment, [=] { return real.fexecve(file, arguments, environment); });
}

int execvpe(const char *file, char *const *arguments, char *const *environment) noexcept {
  if (real.execvpe == nullptr)
    return missing();
  return leave(file, environment, [=] { return real.execvpe(file, arguments, environment); });
}

int execvp(const char *file, char *const *arguments) noexcept { return execvpe(file, arguments, environ); }

int execl(const char *path, const char *first, ...) noexcept {
  MSL_TAKE_ARGUMENTS(arguments, first);
  va_end(rest);
  return execve(path, arguments, environ);
}

int execlp(const char *file, const char *first, ...) noexcept {
  MSL_TAKE_ARGUMENTS(arguments, first);
  va_end(rest);
  return execvpe(file, arguments, environ);
}

int execle(const char *path, const char *first, ...) noexcept {
  MSL_TAKE_ARGUMENTS(arguments, first);
  char *const *environment = va_arg(rest, char *const *);
  va_end(rest);
  return execve(path, arguments, environment);
}

int posix_spawn(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const *arguments, char *const *environment) {
  return spawn(real.posix_spawn, child, path, actions, attributes, arguments, environment);
}

int posix_spawnp(pid_t *child, const char *file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const *arguments, char *const *environment) {
  return spawn(real.posix_spawnp, child, file, actions, attributes, arguments, environment);
}

} // extern "C"
#pragma GCC visibility pop
