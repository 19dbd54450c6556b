// Stops the threads of a process while its memory is read, and reads their registers.
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
  uint64_t stack = 0;          // stack pointer; 0 = not known
  uint64_t thread_pointer = 0; // the thread-local storage is next to it; 0 = not known
  uint64_t instruction = 0;    // address of the next instruction; 0 = not known
  std::vector<uint64_t> registers{};
};

// Stops threads with ptrace(2), so that the program does not notice. If the stop interrupts a system call, the call is
// made again. On AArch64 only the kernel can do that. There, a thread in a call that would fail with EINTR is not
// stopped: its registers are not seen, and it may run on.
//
// A separate thread is the tracer. When it ends, the kernel releases all traced threads. This also releases a thread
// that stops too late, and a killed thread, which would otherwise delay the end of its process. A thread that was about
// to take a signal takes it. PTRACE_DETACH would lose that signal.
class StoppedThreads {
public:
  // Whether a thread may be held where it is. If not, the thread runs on for short times, within a limit, until it may
  // be held.
  using MayHold = std::function<bool(const ThreadState &)>;
  // How long the threads run on in all, if some of them may not be held.
  static constexpr uint64_t kSettleNs = 50'000'000;
  // Stops all threads except `waiting`; 0 = all threads.
  StoppedThreads(
      uint32_t pid, uint32_t waiting, MayHold = [](const ThreadState &) { return true; },
      uint64_t settle_ns = kSettleNs);
  ~StoppedThreads();
  StoppedThreads(const StoppedThreads &) = delete;
  StoppedThreads &operator=(const StoppedThreads &) = delete;

  const std::vector<ThreadState> &threads() const { return threads_; }
  // Number of threads that could not be stopped.
  size_t unseen() const { return unseen_; }
  // Number of threads that are stopped where they may not be held.
  size_t unsettled() const { return unsettled_; }

private:
  void stopAll(const MayHold &, uint64_t settle_ns);
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
