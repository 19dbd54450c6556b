// A thread that has stopped for its tracer.
#pragma once

#include <array>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <sys/user.h>

namespace msleaks::analysis::inline second_run {

#if defined(__x86_64__)
inline constexpr bool kCanTrace = true;
#else
inline constexpr bool kCanTrace = false; // how to have a thread make a call is told for x86-64 only
#endif

// A wait status has the event of ptrace above its lower bits.
inline constexpr int kEventShift = 16;
inline constexpr int kCallStop = SIGTRAP | 0x80; // PTRACE_O_TRACESYSGOOD

struct SystemCall {
  uint64_t number = 0;
  std::array<uint64_t, 6> arguments{};
};

// Of a thread that runs, when it stops or ends; nothing: there is no such thread.
std::optional<int> waitForStop(pid_t tid);
bool isSignalStop(int status); // at a signal, not at a call or an event
bool isTrap(int status);       // behind one instruction, or at a breakpoint

// The word behind this one in /proc/TID/status; empty: there is none.
std::string statusOf(pid_t tid, std::string_view name);

class StoppedThread {
public:
  explicit StoppedThread(pid_t tid) : tid_(tid) {}

  pid_t tid() const { return tid_; }
  std::optional<user_regs_struct> registers() const;
  // False: it has gone meanwhile, killed.
  bool setRegisters(const user_regs_struct &) const;

  // At which it has stopped.
  std::optional<siginfo_t> signal() const;
  bool setSignal(const siginfo_t &) const;

  // Where the C library keeps what is the thread's alone; 0: it has gone, or nobody knows.
  uint64_t controlBlock() const;

  // The thread makes this call and then stands where it stood: at a signal, or behind a call that it made.
  // `instruction`: the address of one that makes a system call. Nothing: the thread has gone meanwhile.
  std::optional<int64_t> call(const SystemCall &, uint64_t instruction) const;
  // In place of the call that the thread is about to make, which it then makes after all.
  std::optional<int64_t> callFirst(const SystemCall &) const;

  // The call that it is about to make or has just made, where the instruction for it lies, and what it returned.
  struct CallState {
    SystemCall call;
    uint64_t instruction = 0;
    int64_t result = 0;
  };
  std::optional<CallState> callState() const;
  // The call that it is about to make is not made, and returns this.
  bool answerCall(int64_t result) const;
  // The call that it has just made is made again.
  bool repeatCall() const;

private:
  bool waitForCallStop() const;

  pid_t tid_;
};

// Signals of this set wait at the thread until the object goes.
class SignalsHeldBack {
public:
  static constexpr uint64_t kAll = ~uint64_t{0};
  explicit SignalsHeldBack(const StoppedThread &, uint64_t signals = kAll);
  ~SignalsHeldBack();
  SignalsHeldBack(const SignalsHeldBack &) = delete;
  SignalsHeldBack &operator=(const SignalsHeldBack &) = delete;

private:
  pid_t tid_;
  uint64_t before_ = 0;
  bool held_ = false;
};

} // namespace msleaks::analysis::inline second_run
