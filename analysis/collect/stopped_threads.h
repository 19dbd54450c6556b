// The other threads of a process that waits: held still while its memory is read, and their registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <latch>
#include <thread>
#include <vector>

namespace msleaks::analysis {

struct ThreadState {
  uint32_t tid = 0;
  uint64_t stack = 0;          // 0 = not known
  uint64_t thread_pointer = 0; // beside which its thread-local storage lies; 0 = not known
  std::vector<uint64_t> registers;
};

// Stops threads with ptrace(2). A system call that a stop would end with EINTR is left alone: the program would notice.
// Such a thread is not seen, and may run on.
//
// A thread of its own is their tracer, and its end lets them go: also one that stops too late, one that has been
// killed, which would hold up the end of its process, and one that was about to take a signal, which PTRACE_DETACH
// would lose.
class StoppedThreads {
public:
  // All but `waiting`.
  StoppedThreads(uint32_t pid, uint32_t waiting);
  ~StoppedThreads();
  StoppedThreads(const StoppedThreads &) = delete;
  StoppedThreads &operator=(const StoppedThreads &) = delete;

  const std::vector<ThreadState> &threads() const { return threads_; }
  // How many there are that could not be stopped.
  size_t unseen() const { return unseen_; }

private:
  void stopAll(uint32_t waiting);
  bool stop(uint32_t tid);

  uint32_t pid_;
  std::vector<ThreadState> threads_;
  size_t unseen_ = 0;
  std::latch stopped_{1}, done_{1};
  std::thread tracer_;
};

std::vector<uint32_t> threadsOf(uint32_t pid);

} // namespace msleaks::analysis
