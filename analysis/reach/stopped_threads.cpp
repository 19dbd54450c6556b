#include "analysis/reach/stopped_threads.h"

#include "analysis/base/machine.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <elf.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <string>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <system_error>

namespace msleaks::analysis::inline reach {
namespace {

constexpr uint64_t kStopNs = 100'000'000, kPauseNs = 50'000;
constexpr uint64_t kRunNs = 20'000; // how long a thread runs between two looks

#if defined(__x86_64__)
// With this result, the kernel makes the call again when the thread continues, unless a signal handler runs before.
constexpr long long kMadeAgain = -514; // ERESTARTNOHAND, which no header for programs defines

// A stop ends epoll_wait(2) and some other calls with EINTR. The program has not asked for this, so the call is made
// again. But not close(2), because it may have closed the file.
void makeAgain(uint32_t tid, user_regs_struct &registers) {
  if (static_cast<long long>(registers.orig_rax) < 0 || static_cast<long long>(registers.rax) != -EINTR ||
      registers.orig_rax == SYS_close)
    return;
  registers.rax = static_cast<unsigned long long>(kMadeAgain);
  iovec set{&registers, sizeof registers};
  ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &set);
}

bool mayBeStopped(uint32_t, uint32_t) { return true; }
#else
void makeAgain(uint32_t, user_regs_struct &) {}

// Whether the kernel restarts the call after a stop, for any arguments.
bool isRestarted(long call) {
  static constexpr std::array kCalls{
#ifdef SYS_poll
      SYS_poll,  SYS_select,    SYS_pause,
#endif
      SYS_futex, SYS_nanosleep, SYS_clock_nanosleep, SYS_ppoll, SYS_pselect6, SYS_rt_sigsuspend, SYS_wait4, SYS_waitid};
  return std::find(kCalls.begin(), kCalls.end(), call) != kCalls.end();
}

// Whether a stop would not disturb the thread. /proc/PID/task/TID/syscall contains the number and arguments of its
// system call, or "running".
bool mayBeStopped(uint32_t pid, uint32_t tid) {
  std::ifstream file(fmt::format("/proc/{}/task/{}/syscall", pid, tid));
  std::string word;
  if (!(file >> word))
    return false;
  long call = -1;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), call);
  return word == "running" || (error == std::errc() && (call < 0 || isRestarted(call)));
}
#endif

// Code that moves many pointers at once may have them only in vector registers for a moment.
void readVectors(uint32_t tid, ThreadState &state) {
#if defined(__x86_64__)
  constexpr unsigned kSet = NT_X86_XSTATE;
#else
  constexpr unsigned kSet = NT_PRFPREG;
#endif
  std::array<uint64_t, 2048> words;
  iovec set{words.data(), sizeof words};
  if (ptrace(PTRACE_GETREGSET, tid, kSet, &set) == 0)
    state.registers.insert(state.registers.end(), words.begin(),
                           words.begin() + static_cast<ptrdiff_t>(set.iov_len / sizeof(uint64_t)));
}

bool readRegisters(uint32_t tid, ThreadState &state) {
  user_regs_struct registers{};
  iovec set{&registers, sizeof registers};
  if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &set) != 0)
    return false;
  const auto *words = reinterpret_cast<const unsigned long long *>(&registers);
  state.registers.assign(words, words + sizeof registers / sizeof *words);
  readVectors(tid, state);
#if defined(__x86_64__)
  state.stack = registers.rsp;
  state.thread_pointer = registers.fs_base;
  state.instruction = registers.rip;
#elif defined(__aarch64__)
  state.stack = registers.sp;
  state.instruction = registers.pc;
  set = {&state.thread_pointer, sizeof state.thread_pointer};
  ptrace(PTRACE_GETREGSET, tid, NT_ARM_TLS, &set);
#endif
  makeAgain(tid, registers);
  return true;
}

// Waits until the thread has stopped. Does not call waitpid, which would also report events of msleaks' children.
bool waitForRegisters(uint32_t tid, ThreadState &state) {
  const uint64_t until_ns = readMonotonicNs() + kStopNs;
  do {
    if (readRegisters(tid, state))
      return true;
    sleepNs(kPauseNs);
  } while (readMonotonicNs() < until_ns);
  return false;
}

// Lets a stopped thread run for a moment. If the thread was about to take a signal, it takes the signal. If its
// terminal or its parent has stopped it, it stays stopped.
bool runOn(ThreadState &thread) {
  siginfo_t reason{};
  if (ptrace(PTRACE_GETSIGINFO, thread.tid, nullptr, &reason) != 0)
    return false;
  const bool is_event = reason.si_code >> 8 == PTRACE_EVENT_STOP;
  if (is_event && reason.si_signo != SIGTRAP)
    return false;
  const auto signal = static_cast<uintptr_t>(is_event ? 0 : reason.si_signo);
  if (ptrace(PTRACE_CONT, thread.tid, nullptr, signal) != 0) // NOLINT: ptrace takes a number as a pointer
    return false;
  sleepNs(kRunNs);
  return ptrace(PTRACE_INTERRUPT, thread.tid, nullptr, nullptr) == 0 && waitForRegisters(thread.tid, thread);
}

} // namespace

std::vector<uint32_t> threadsOf(uint32_t pid) {
  std::vector<uint32_t> threads;
  std::error_code error;
  for (const auto &entry : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid), error)) {
    const std::string name = entry.path().filename();
    uint32_t tid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), tid).ec == std::errc())
      threads.push_back(tid);
  }
  return threads;
}

StoppedThreads::StoppedThreads(uint32_t pid, uint32_t waiting, MayHold may_hold, uint64_t settle_ns)
    : pid_(pid), known_{waiting} {
  try {
    tracer_ = std::thread([this, &may_hold, settle_ns] {
      stopAll(may_hold, settle_ns);
      stopped_.count_down();
      done_.wait();
    });
    stopped_.wait();
  } catch (const std::system_error &) { // no further thread can be created
    unseen_ = threadsOf(pid).size();
  }
}

StoppedThreads::~StoppedThreads() {
  done_.count_down();
  if (tracer_.joinable())
    tracer_.join();
}

// Repeats this as long as there are new threads: threads that were not stopped yet, or that ran on, may create them.
void StoppedThreads::stopAll(const MayHold &may_hold, uint64_t settle_ns) {
  const uint64_t until_ns = readMonotonicNs() + settle_ns;
  while (stopNew())
    settle(may_hold, until_ns);
}

bool StoppedThreads::stopNew() {
  const size_t before = known_.size();
  for (size_t seen = 0; seen != known_.size();) {
    seen = known_.size();
    for (const uint32_t tid : threadsOf(pid_))
      if (known_.insert(tid).second)
        unseen_ += !stop(tid);
  }
  return known_.size() != before;
}

bool StoppedThreads::stop(uint32_t tid) {
  if (!mayBeStopped(pid_, tid) || ptrace(PTRACE_SEIZE, tid, nullptr, nullptr) != 0)
    return false;
  ThreadState state;
  state.tid = tid;
  const bool stopped = ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr) == 0 && waitForRegisters(tid, state);
  threads_.push_back(std::move(state));
  return stopped;
}

// Threads that may not be held (for example, in a lock of malloc) may wait for each other. So all of these run on
// together, while all others stand still.
void StoppedThreads::settle(const MayHold &may_hold, uint64_t until_ns) {
  std::vector<ThreadState *> running;
  for (ThreadState &thread : threads_)
    running.push_back(&thread);
  const auto isSettled = [&](const ThreadState *thread) { return may_hold(*thread); };
  for (std::erase_if(running, isSettled); !running.empty(); std::erase_if(running, isSettled)) {
    if (readMonotonicNs() > until_ns)
      break;
    for (ThreadState *thread : running)
      if (!runOn(*thread)) {
        unsettled_ = running.size();
        return;
      }
  }
  unsettled_ = running.size();
}

} // namespace msleaks::analysis::inline reach
