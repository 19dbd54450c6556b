// Hooks of functions that open and close descriptors. All of them may be called in signal handlers and between fork and
// exec. So the real functions are looked up when this library is loaded (look_up.cpp), and no hook takes a lock.
//
// A function with `...` gets its last argument in a register. The hook passes the whole register on, even if the caller
// has passed no argument.
#include "core/own_hook.h"

#include <cstddef>

using Mode = unsigned;
using Rest = long;

MSL_HOOK(libc, int, open, (const char *, int, Rest))
MSL_HOOK(libc, int, open64, (const char *, int, Rest))
MSL_HOOK(libc, int, openat, (int, const char *, int, Rest))
MSL_HOOK(libc, int, openat64, (int, const char *, int, Rest))
MSL_HOOK(libc, int, creat, (const char *, Mode))
MSL_HOOK(libc, int, creat64, (const char *, Mode))
MSL_HOOK(libc, int, __open_2, (const char *, int))
MSL_HOOK(libc, int, __open64_2, (const char *, int))
MSL_HOOK(libc, int, __openat_2, (int, const char *, int))
MSL_HOOK(libc, int, __openat64_2, (int, const char *, int))

MSL_HOOK(libc, int, mkstemp, (char *))
MSL_HOOK(libc, int, mkstemp64, (char *))
MSL_HOOK(libc, int, mkostemp, (char *, int))
MSL_HOOK(libc, int, mkostemp64, (char *, int))
MSL_HOOK(libc, int, mkstemps, (char *, int))
MSL_HOOK(libc, int, mkstemps64, (char *, int))
MSL_HOOK(libc, int, mkostemps, (char *, int, int))
MSL_HOOK(libc, int, mkostemps64, (char *, int, int))
MSL_HOOK(libc, int, shm_open, (const char *, int, Mode))
MSL_HOOK(libc, int, memfd_create, (const char *, unsigned))
MSL_HOOK(libc, int, posix_openpt, (int))

MSL_HOOK(libc, int, socket, (int, int, int))
MSL_HOOK(libc, int, socketpair, (int, int, int, int *))
MSL_HOOK(libc, int, accept, (int, void *, void *))
MSL_HOOK(libc, int, accept4, (int, void *, void *, int))
MSL_HOOK(libc, int, pipe, (int *))
MSL_HOOK(libc, int, pipe2, (int *, int))
MSL_HOOK(libc, int, epoll_create, (int))
MSL_HOOK(libc, int, epoll_create1, (int))
MSL_HOOK(libc, int, eventfd, (unsigned, int))
MSL_HOOK(libc, int, timerfd_create, (int, int))
MSL_HOOK(libc, int, signalfd, (int, const void *, int))
MSL_HOOK(libc, int, inotify_init, ())
MSL_HOOK(libc, int, inotify_init1, (int))
MSL_HOOK(libc, int, fanotify_init, (unsigned, unsigned))
MSL_HOOK(libc, int, pidfd_open, (int, unsigned))

MSL_HOOK(libc, int, dup, (int))
MSL_HOOK(libc, int, dup3, (int, int, int))
MSL_HOOK(libc, int, close, (int))

// dup2 of a number to itself opens and closes nothing.
MSL_OWN_HOOK(libc, int, dup2, (int from, int to)) {
  return from == to ? MSL_REAL(int, dup2, from, to) : MSL_AS_ROWS(int, dup2, from, to);
}

namespace {
constexpr bool duplicates(int command) {
  constexpr int kDuplicate = 0, kDuplicateCloseOnExec = 1030; // F_DUPFD, F_DUPFD_CLOEXEC
  return command == kDuplicate || command == kDuplicateCloseOnExec;
}
} // namespace

MSL_OWN_HOOK(libc, int, fcntl, (int file, int command, Rest rest)) {
  return duplicates(command) ? MSL_AS_ROWS(int, fcntl, file, command, rest) : MSL_REAL(int, fcntl, file, command, rest);
}
MSL_OWN_HOOK(libc, int, fcntl64, (int file, int command, Rest rest)) {
  return duplicates(command) ? MSL_AS_ROWS(int, fcntl64, file, command, rest)
                             : MSL_REAL(int, fcntl64, file, command, rest);
}
