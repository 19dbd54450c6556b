#include "analysis/collect/stopped_threads.h"

#include "analysis/base/clock.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <elf.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <set>
#include <string>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>

namespace msleaks::analysis {
namespace {

constexpr uint64_t kStopNs = 100'000'000, kPauseNs = 50'000;

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

bool readRegisters(uint32_t tid, ThreadState &state) {
  user_regs_struct registers{};
  iovec set{&registers, sizeof registers};
  if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &set) != 0)
    return false;
  const auto *words = reinterpret_cast<const unsigned long long *>(&registers);
  state.registers.assign(words, words + sizeof registers / sizeof *words);
#if defined(__x86_64__)
  state.stack = registers.rsp;
  state.thread_pointer = registers.fs_base;
#elif defined(__aarch64__)
  state.stack = registers.sp;
  set = {&state.thread_pointer, sizeof state.thread_pointer};
  ptrace(PTRACE_GETREGSET, tid, NT_ARM_TLS, &set);
#endif
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

StoppedThreads::StoppedThreads(uint32_t pid, uint32_t waiting) : pid_(pid) {
  tracer_ = std::thread([this, waiting] {
    stopAll(waiting);
    stopped_.count_down();
    done_.wait();
  });
  stopped_.wait();
}

StoppedThreads::~StoppedThreads() {
  done_.count_down();
  tracer_.join();
}

// Again as long as there are new ones: they are made by threads that have not stopped yet.
void StoppedThreads::stopAll(uint32_t waiting) {
  std::set<uint32_t> known{waiting};
  for (bool fresh = true; fresh;) {
    fresh = false;
    for (const uint32_t tid : threadsOf(pid_))
      if (known.insert(tid).second) {
        fresh = true;
        unseen_ += !stop(tid);
      }
  }
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

} // namespace msleaks::analysis
