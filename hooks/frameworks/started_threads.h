// Passes the calls that start a thread of Python on to this thread. The paths of the thread then contain these calls,
// too (docs/python.md).
#pragma once

namespace msleaks::hooks {

// The function with which a thread begins, and its argument.
struct ThreadBegin {
  void *(*function)(void *);
  void *argument;
};

// A thread is about to start with `begin`. Returns the begin that pthread_create must get instead. It may be `begin`.
ThreadBegin withStarter(const ThreadBegin &begin) noexcept;

// The thread with this begin, which withStarter returned, has not started.
void notStarted(const ThreadBegin &) noexcept;

} // namespace msleaks::hooks
