// Hooks for threads that the program has to join or detach.
#include "core/own_hook.h"
#include "frameworks/started_threads.h"

using Thread = unsigned long;
using Time = const void *;

extern "C" int pthread_attr_getdetachstate(const void *attributes, int *state) noexcept;

namespace {
bool isDetached(const void *attributes) {
  constexpr int kDetached = 1; // PTHREAD_CREATE_DETACHED
  int state = 0;
  return attributes != nullptr && pthread_attr_getdetachstate(attributes, &state) == 0 && state == kDetached;
}
} // namespace

MSL_OWN_HOOK(libc, int, pthread_create,
             (Thread * made, const void *attributes, void *(*begin)(void *), void *argument)) {
  const auto [first, with] = msleaks::hooks::withStarter({begin, argument});
  const int failed = isDetached(attributes) ? MSL_REAL(int, pthread_create, made, attributes, first, with)
                                            : MSL_AS_ROWS(int, pthread_create, made, attributes, first, with);
  if (failed != 0)
    msleaks::hooks::notStarted({first, with});
  return failed;
}

MSL_HOOK(libc, int, pthread_join, (Thread, void **))
MSL_HOOK(libc, int, pthread_tryjoin_np, (Thread, void **))
MSL_HOOK(libc, int, pthread_timedjoin_np, (Thread, void **, Time))
MSL_HOOK(libc, int, pthread_clockjoin_np, (Thread, void **, int, Time))
MSL_HOOK(libc, int, pthread_detach, (Thread))
