// The other threads of a process that waits: held still while its memory is read, and their registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <latch>
#include <set>
#include <thread>
#include <vector>

namespace msleaks::analysis::inline reach {

struct ThreadState {
  uint32_t tid = 0;
  uint64_t stack = 0;          // 0 = not known
  uint64_t thread_pointer = 0; // beside which its thread-local storage lies; 0 = not known
  uint64_t instruction = 0;    // that comes next; 0 = not known
  std::vector<uint64_t> registers{};
};

// Stops threads with ptrace(2), so that the program does not notice. A system call that the stop interrupts is made
// again. Where only the kernel can do that (AArch64), a thread in a call that would fail with EINTR is left alone: it
// is not seen, and may run on.
//
// A thread of its own is their tracer, and its end lets them go. This also frees a thread that stops too late, and a
// killed one, which would hold up the end of its process. It frees a thread that was about to take a signal, too:
// PTRACE_DETACH would lose that signal.
class StoppedThreads {
public:
  // Whether a thread may be held where it is. It runs on for a moment until it may, for a bounded time.
  using MayHold = std::function<bool(const ThreadState &)>;
  // All but `waiting`; 0 = all.
  StoppedThreads(uint32_t pid, uint32_t waiting, MayHold = [](const ThreadState &) { return true; });
  ~StoppedThreads();
  StoppedThreads(const StoppedThreads &) = delete;
  StoppedThreads &operator=(const StoppedThreads &) = delete;

  const std::vector<ThreadState> &threads() const { return threads_; }
  // How many there are that could not be stopped.
  size_t unseen() const { return unseen_; }
  // How many stand where they may not be held.
  size_t unsettled() const { return unsettled_; }

private:
  void stopAll(const MayHold &);
  bool stopNew();
  bool stop(uint32_t tid);
  void settle(const MayHold &, uint64_t until_ns);

  uint32_t pid_;
  std::set<uint32_t> known_;
  std::vector<ThreadState> threads_;
  size_t unseen_ = 0, unsettled_ = 0;
  std::latch stopped_{1}, done_{1};
  std::thread tracer_;
};

std::vector<uint32_t> threadsOf(uint32_t pid);

} // namespace msleaks::analysis::inline reach
