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
// How long threads may take until they stand where they may be held, and how long one runs between two looks.
constexpr uint64_t kSettleNs = 50'000'000, kRunNs = 20'000;

#if defined(__x86_64__)
// The kernel makes a call again that ends so, once the thread goes on, unless a signal handler comes between.
constexpr long long kMadeAgain = -514; // ERESTARTNOHAND, in no header for programs

// epoll_wait(2) and others end with EINTR at a stop. Nothing has happened: the program did not ask for a stop. But
// close(2) may have closed the file.
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

// Goes on by itself behind a stop, whatever its arguments are.
bool isRestarted(long call) {
  static constexpr std::array kCalls{
#ifdef SYS_poll
      SYS_poll,  SYS_select,    SYS_pause,
#endif
      SYS_futex, SYS_nanosleep, SYS_clock_nanosleep, SYS_ppoll, SYS_pselect6, SYS_rt_sigsuspend, SYS_wait4, SYS_waitid};
  return std::find(kCalls.begin(), kCalls.end(), call) != kCalls.end();
}

// /proc/PID/task/TID/syscall: its number and arguments, or "running".
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

// Code that handles many pointers at once has them in vector registers alone, for a moment.
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

// Until the thread has stopped. Its stop is not waited for by waitpid: that would be reported for a child, too.
bool waitForRegisters(uint32_t tid, ThreadState &state) {
  const uint64_t until_ns = readMonotonicNs() + kStopNs;
  do {
    if (readRegisters(tid, state))
      return true;
    sleepNs(kPauseNs);
  } while (readMonotonicNs() < until_ns);
  return false;
}

// Lets a stopped thread run for a moment. One that was about to take a signal takes it; one that its terminal or its
// parent has stopped stays as it is.
bool runOn(ThreadState &thread) {
  siginfo_t reason{};
  if (ptrace(PTRACE_GETSIGINFO, thread.tid, nullptr, &reason) != 0)
    return false;
  const bool is_event = reason.si_code >> 8 == PTRACE_EVENT_STOP;
  if (is_event && reason.si_signo != SIGTRAP)
    return false;
  const auto signal = static_cast<uintptr_t>(is_event ? 0 : reason.si_signo);
  if (ptrace(PTRACE_CONT, thread.tid, nullptr, signal) != 0) // NOLINT: a number where ptrace has a pointer
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

StoppedThreads::StoppedThreads(uint32_t pid, uint32_t waiting, MayHold may_hold) : pid_(pid), known_{waiting} {
  try {
    tracer_ = std::thread([this, &may_hold] {
      stopAll(may_hold);
      stopped_.count_down();
      done_.wait();
    });
    stopped_.wait();
  } catch (const std::system_error &) { // no room for a thread of ours
    unseen_ = threadsOf(pid).size();
  }
}

StoppedThreads::~StoppedThreads() {
  done_.count_down();
  if (tracer_.joinable())
    tracer_.join();
}

// Again as long as there are new ones: they are made by threads that have not stopped yet, or that ran on.
void StoppedThreads::stopAll(const MayHold &may_hold) {
  const uint64_t until_ns = readMonotonicNs() + kSettleNs;
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

// A thread that may not be held (in a lock of malloc) may wait for another one that may not be held, either. These run
// on, and all others stand still.
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
