// Tells a thread that Python starts which calls have started it. So the paths of the thread contain these calls, too
// (docs/python.md).
#pragma once

namespace msleaks::hooks {

// The function with which a thread begins, and its argument.
struct ThreadBegin {
  void *(*function)(void *);
  void *argument;
};

// A thread is about to start with `begin`. Returns with what it must begin instead, or `begin`.
ThreadBegin withStarter(const ThreadBegin &begin) noexcept;

// The thread with this begin, which withStarter returned, has not started.
void notStarted(const ThreadBegin &) noexcept;

} // namespace msleaks::hooks
