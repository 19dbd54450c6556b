#include "analysis/second_run/stopped_thread.h"

#include <cerrno>
#include <csignal>
#include <elf.h>
#include <fmt/format.h>
#include <fstream>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

namespace msleaks::analysis::inline second_run {
std::optional<int> waitForStop(pid_t tid) {
  int status = 0;
  pid_t found = 0;
  do
    found = waitpid(tid, &status, __WALL);
  while (found < 0 && errno == EINTR);
  return found == tid ? std::optional(status) : std::nullopt;
}

bool isSignalStop(int status) {
  return WIFSTOPPED(status) && status >> kEventShift == 0 && WSTOPSIG(status) != kCallStop;
}

bool isTrap(int status) { return isSignalStop(status) && WSTOPSIG(status) == SIGTRAP; }

std::string statusOf(pid_t tid, std::string_view name) {
  std::ifstream status(fmt::format("/proc/{}/status", tid));
  for (std::string word; status >> word;)
    if (word == name && status >> word)
      return word;
  return {};
}

std::optional<user_regs_struct> StoppedThread::registers() const {
  user_regs_struct registers{};
  iovec set{&registers, sizeof registers};
  if (ptrace(PTRACE_GETREGSET, tid_, NT_PRSTATUS, &set) != 0)
    return std::nullopt;
  return registers;
}

bool StoppedThread::setRegisters(const user_regs_struct &registers) const {
  iovec set{const_cast<user_regs_struct *>(&registers), sizeof registers};
  return ptrace(PTRACE_SETREGSET, tid_, NT_PRSTATUS, &set) == 0;
}

std::optional<siginfo_t> StoppedThread::signal() const {
  siginfo_t info{};
  return ptrace(PTRACE_GETSIGINFO, tid_, nullptr, &info) == 0 ? std::optional(info) : std::nullopt;
}

bool StoppedThread::setSignal(const siginfo_t &info) const {
  return ptrace(PTRACE_SETSIGINFO, tid_, nullptr, &info) == 0;
}

SignalsHeldBack::SignalsHeldBack(const StoppedThread &thread, uint64_t signals) : tid_(thread.tid()) {
  held_ = ptrace(PTRACE_GETSIGMASK, tid_, sizeof before_, &before_) == 0 &&
          ptrace(PTRACE_SETSIGMASK, tid_, sizeof signals, &signals) == 0;
}

SignalsHeldBack::~SignalsHeldBack() {
  if (held_)
    ptrace(PTRACE_SETSIGMASK, tid_, sizeof before_, &before_);
}

// Waits until the thread stops at a call. SIGSTOP cannot be blocked. If it arrives, this thread continues while the
// other threads of its process stop.
bool StoppedThread::waitForCallStop() const {
  for (;;) {
    const auto status = waitForStop(tid_);
    if (!status || !WIFSTOPPED(*status))
      return false;
    if (WSTOPSIG(*status) == kCallStop)
      return true;
    if (ptrace(PTRACE_SYSCALL, tid_, nullptr, nullptr) != 0)
      return false;
  }
}

#if defined(__x86_64__)

namespace {

constexpr uint64_t kInstructionBytes = 2; // length of `syscall`

void setArguments(user_regs_struct &registers, const SystemCall &call) {
  registers.rdi = call.arguments[0];
  registers.rsi = call.arguments[1];
  registers.rdx = call.arguments[2];
  registers.r10 = call.arguments[3];
  registers.r8 = call.arguments[4];
  registers.r9 = call.arguments[5];
}

} // namespace

std::optional<uint64_t> StoppedThread::nextInstruction() const {
  const auto r = registers();
  return r ? std::optional<uint64_t>(r->rip) : std::nullopt;
}

uint64_t StoppedThread::controlBlock() const {
  const auto r = registers();
  return r ? r->fs_base : 0;
}

std::optional<int64_t> StoppedThread::call(const SystemCall &call, uint64_t instruction) const {
  const auto before = registers();
  if (!before)
    return std::nullopt;
  const SignalsHeldBack held(*this);
  user_regs_struct during = *before;
  during.rip = instruction;
  during.rax = call.number;
  during.orig_rax = UINT64_MAX; // the kernel must not repeat a call
  setArguments(during, call);
  for (const bool made : {false, true})
    if ((!made && !setRegisters(during)) || ptrace(PTRACE_SYSCALL, tid_, nullptr, nullptr) != 0 || !waitForCallStop())
      return std::nullopt;
  const auto after = registers();
  if (!after || !setRegisters(*before))
    return std::nullopt;
  return static_cast<int64_t>(after->rax);
}

std::optional<int64_t> StoppedThread::callFirst(const SystemCall &call) const {
  const auto before = registers();
  if (!before)
    return std::nullopt;
  const SignalsHeldBack held(*this);
  user_regs_struct during = *before;
  during.orig_rax = call.number;
  setArguments(during, call);
  if (!setRegisters(during) || ptrace(PTRACE_SYSCALL, tid_, nullptr, nullptr) != 0 || !waitForCallStop())
    return std::nullopt;
  const auto after = registers();
  if (!after || !setRegisters(*before) || !repeatCall())
    return std::nullopt;
  return static_cast<int64_t>(after->rax);
}

std::optional<StoppedThread::CallState> StoppedThread::callState() const {
  const auto r = registers();
  if (!r)
    return std::nullopt;
  return CallState{{r->orig_rax, {r->rdi, r->rsi, r->rdx, r->r10, r->r8, r->r9}},
                   r->rip - kInstructionBytes,
                   static_cast<int64_t>(r->rax)};
}

bool StoppedThread::answerCall(int64_t result) const {
  auto registers = this->registers();
  if (!registers)
    return false;
  registers->orig_rax = UINT64_MAX;
  registers->rax = static_cast<uint64_t>(result);
  return setRegisters(*registers);
}

bool StoppedThread::repeatCall() const {
  auto registers = this->registers();
  if (!registers)
    return false;
  registers->rip -= kInstructionBytes;
  registers->rax = registers->orig_rax;
  return setRegisters(*registers);
}

#else

std::optional<uint64_t> StoppedThread::nextInstruction() const {
  const auto r = registers();
  return r ? std::optional<uint64_t>(r->pc) : std::nullopt;
}
uint64_t StoppedThread::controlBlock() const { return 0; }
std::optional<int64_t> StoppedThread::call(const SystemCall &, uint64_t) const { return std::nullopt; }
std::optional<int64_t> StoppedThread::callFirst(const SystemCall &) const { return std::nullopt; }
std::optional<StoppedThread::CallState> StoppedThread::callState() const {
  const auto r = registers();
  if (!r)
    return std::nullopt;
  constexpr uint64_t kInstructionBytes = 4; // length of `svc`
  const auto &x = r->regs;
  return CallState{{x[8], {x[0], x[1], x[2], x[3], x[4], x[5]}}, r->pc - kInstructionBytes, static_cast<int64_t>(x[0])};
}
bool StoppedThread::answerCall(int64_t) const { return false; }
bool StoppedThread::repeatCall() const { return false; }

#endif

} // namespace msleaks::analysis::inline second_run
