// A thread that has stopped for its tracer.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <sys/types.h>
#include <sys/user.h>

namespace msleaks::analysis::inline second_run {

#if defined(__x86_64__)
inline constexpr bool kCanTrace = true;
#else
inline constexpr bool kCanTrace = false; // which registers a system call takes is told for x86-64 only
#endif

// A wait status has the event of ptrace above its lower bits.
inline constexpr int kEventShift = 16;

struct SystemCall {
  uint64_t number = 0;
  std::array<uint64_t, 6> arguments{};
};

// Of a thread that runs, when it stops or ends; nothing: there is no such thread.
std::optional<int> waitForStop(pid_t tid);
bool isSignalStop(int status); // at a signal, not at a call or an event
bool isTrap(int status);       // behind one instruction, or at a breakpoint

class StoppedThread {
public:
  explicit StoppedThread(pid_t tid) : tid_(tid) {}

  pid_t tid() const { return tid_; }
  std::optional<user_regs_struct> registers() const;
  // False: it has gone meanwhile, killed.
  bool setRegisters(const user_regs_struct &) const;

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

} // namespace msleaks::analysis::inline second_run
