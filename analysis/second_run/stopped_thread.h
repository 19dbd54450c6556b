// Reads and changes a thread that has stopped for its tracer, and makes system calls in it.
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
inline constexpr bool kCanTrace = false; // StoppedThread::call is implemented for x86-64 only
#endif

inline constexpr int kEventShift = 16;           // position of ptrace's event in a wait status
inline constexpr int kCallStop = SIGTRAP | 0x80; // the signal of a stop at a system call (PTRACE_O_TRACESYSGOOD)

struct SystemCall {
  uint64_t number = 0;
  std::array<uint64_t, 6> arguments{};
};

// Waits until a running thread stops or ends. Returns its wait status, or nothing if there is no such thread.
std::optional<int> waitForStop(pid_t tid);
bool isSignalStop(int status); // whether the thread has stopped at a signal, not at a call or an event
bool isTrap(int status);       // whether it has stopped after one instruction, or at a breakpoint

// Returns the word after `name` in /proc/TID/status. It is empty if the file does not contain `name`.
std::string statusOf(pid_t tid, std::string_view name);

class StoppedThread {
public:
  explicit StoppedThread(pid_t tid) : tid_(tid) {}

  pid_t tid() const { return tid_; }
  std::optional<user_regs_struct> registers() const;
  // Returns false if the thread was killed meanwhile.
  bool setRegisters(const user_regs_struct &) const;

  std::optional<uint64_t> nextInstruction() const; // its address

  // Returns the signal at which the thread has stopped.
  std::optional<siginfo_t> signal() const;
  bool setSignal(const siginfo_t &) const;

  // Returns the address of the C library's control block of the thread. 0: it is not known, or the thread was killed.
  uint64_t controlBlock() const;

  // Makes the thread execute this call. Afterwards the thread has the same registers as before. It must have stopped at
  // a signal or at the end of a call. `instruction` is the address of an instruction that makes a system call. Returns
  // nothing if the thread was killed meanwhile.
  std::optional<int64_t> call(const SystemCall &, uint64_t instruction) const;
  // Makes this call first if the thread has stopped at the beginning of a call. Later the thread begins its own call
  // again.
  std::optional<int64_t> callFirst(const SystemCall &) const;

  // The call that the thread begins or has just made, the address of its instruction, and its result.
  struct CallState {
    SystemCall call;
    uint64_t instruction = 0;
    int64_t result = 0;
  };
  std::optional<CallState> callState() const;
  // Skips the call that the thread begins. The call returns `result`.
  bool answerCall(int64_t result) const;
  // Makes the thread repeat the call that it has just made.
  bool repeatCall() const;

private:
  bool waitForCallStop() const;

  pid_t tid_;
};

// Blocks these signals of a thread as long as the object exists.
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
