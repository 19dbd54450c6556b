#include "analysis/second_run/process_tracer.h"

#include "analysis/reach/process_memory.h"
#include "analysis/second_run/stopped_thread.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fmt/format.h>
#include <fstream>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

namespace msleaks::analysis::inline second_run {
namespace {

// Ends the program, should we end first: the calls that stop for us would fail.
constexpr int kOptions = PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                         PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT | PTRACE_O_TRACESECCOMP;

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#else
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#endif
constexpr uint32_t kCalls[] = {SYS_munmap, SYS_execve, SYS_execveat};

constexpr sock_filter statement(uint16_t code, uint32_t value) { return BPF_STMT(code, value); }
constexpr sock_filter skipUnless(uint32_t value, uint8_t skipped) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skipped);
}

void resume(pid_t thread, int signal = 0) {
  ptrace(PTRACE_CONT, thread, nullptr, reinterpret_cast<void *>(static_cast<intptr_t>(signal)));
}

// The number of its process; its own where nobody says so.
pid_t processOf(pid_t thread) {
  std::ifstream file(fmt::format("/proc/{}/status", thread));
  constexpr std::string_view kName = "Tgid:";
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(kName))
      return static_cast<pid_t>(std::strtol(line.c_str() + kName.size(), nullptr, 10));
  return thread;
}

// The system call that it is in, or was last; -1: none.
long lastCallOf(pid_t thread) {
  user_regs_struct registers{};
  iovec to{&registers, sizeof registers};
  if (ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &to) != 0)
    return -1;
#if defined(__x86_64__)
  return static_cast<long>(registers.orig_rax);
#else
  return static_cast<long>(registers.regs[8]);
#endif
}

bool isImage(pid_t thread, uint64_t address) {
  unsigned char magic[SELFMAG];
  return ProcessMemory(static_cast<uint32_t>(thread)).read(address, magic) && std::memcmp(magic, ELFMAG, SELFMAG) == 0;
}

} // namespace

Result<void> ProcessTracer::seize(pid_t child) {
  if (ptrace(PTRACE_SEIZE, child, nullptr, kOptions) != 0)
    return fail(fmt::format("the program cannot be traced (ptrace: {}); a container may need --cap-add=SYS_PTRACE",
                            std::strerror(errno)));
  program_ = child;
  threads_[child] = child;
  alive_.insert(child);
  return {};
}

void ProcessTracer::filterCalls() {
  constexpr sock_filter kLoadNumber = statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
  constexpr sock_filter kAllow = statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  constexpr sock_filter kTrace = statement(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
  static constexpr sock_filter kFilter[] = {
      statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0),
      kAllow,
      kLoadNumber,
      skipUnless(kCalls[0], 1),
      kTrace,
      skipUnless(kCalls[1], 1),
      kTrace,
      skipUnless(kCalls[2], 1),
      kTrace,
      kAllow,
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(kFilter)), const_cast<sock_filter *>(kFilter)};
  // Who is traced gets no more privileges by exec anyway.
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

void ProcessTracer::runToExec() {
  while (!is_started_ && threads_.contains(program_) && next())
    ;
}

int ProcessTracer::run() {
  while (next())
    ;
  return status_;
}

// Whatever happens next; false: all have ended.
bool ProcessTracer::next() {
  int status = 0;
  const pid_t thread = waitpid(-1, &status, __WALL);
  if (thread < 0)
    return errno == EINTR;
  if (WIFSTOPPED(status)) {
    onStop(thread, status);
    return true;
  }
  threads_.erase(thread);
  // Of a process the first thread is reaped last. It need not stop at its end where the system is in a hurry.
  missed_ += alive_.erase(thread);
  if (thread == program_)
    status_ = status;
  return true;
}

void ProcessTracer::onStop(pid_t thread, int status) {
  const int signal = WSTOPSIG(status), event = status >> kEventShift;
  if (event != PTRACE_EVENT_EXIT)
    if (const auto [entry, is_new] = threads_.try_emplace(thread, thread); is_new)
      alive_.insert(entry->second = processOf(thread));
  if (event != 0)
    onEvent(thread, event, signal);
  else
    resume(thread, signal);
}

void ProcessTracer::onEvent(pid_t thread, int event, int signal) {
  switch (event) {
  case PTRACE_EVENT_STOP:
    // The first stop of a new thread, or one of its whole process, which lasts until somebody continues that.
    if (signal == SIGTRAP)
      break;
    ptrace(PTRACE_LISTEN, thread, nullptr, nullptr);
    return;
  case PTRACE_EVENT_SECCOMP:
    onCall(thread);
    break;
  case PTRACE_EVENT_EXIT:
    onExit(thread);
    break;
  case PTRACE_EVENT_EXEC: {
    is_started_ = true;
    unsigned long former = 0; // its number, where another thread than the first one calls exec
    if (ptrace(PTRACE_GETEVENTMSG, thread, nullptr, &former) == 0 && static_cast<pid_t>(former) != thread)
      threads_.erase(static_cast<pid_t>(former));
    break;
  }
  default:
    break;
  }
  resume(thread);
}

void ProcessTracer::onCall(pid_t thread) {
  __ptrace_syscall_info call{};
  if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, reinterpret_cast<void *>(sizeof call), &call) <= 0 ||
      call.op != PTRACE_SYSCALL_INFO_SECCOMP || !is_started_)
    return;
  // The dynamic linker unmaps a library with one call, from its first byte on.
  if (call.seccomp.nr != SYS_munmap || isImage(thread, call.seccomp.args[0]))
    look_(thread);
}

// Each thread's memory is there until it goes on from here. One that another one kills need not stop here at all, so it
// is looked at when the one stops that ends them all.
void ProcessTracer::onExit(pid_t thread) {
  unsigned long status = 0;
  ptrace(PTRACE_GETEVENTMSG, thread, nullptr, &status);
  if (isLastOfProcess(thread) || WIFSIGNALED(static_cast<int>(status)) || lastCallOf(thread) == SYS_exit_group)
    lookAtEnd(thread);
  threads_.erase(thread);
}

// Once, whoever comes first.
void ProcessTracer::lookAtEnd(pid_t thread) {
  if (!is_started_ || alive_.erase(processOf(thread)) == 0)
    return;
  ++processes_;
  look_(thread);
}

bool ProcessTracer::isLastOfProcess(pid_t thread) const {
  const auto own = threads_.find(thread);
  const pid_t process = own != threads_.end() ? own->second : thread;
  return std::ranges::none_of(threads_,
                              [&](const auto &other) { return other.first != thread && other.second == process; });
}

} // namespace msleaks::analysis::inline second_run
