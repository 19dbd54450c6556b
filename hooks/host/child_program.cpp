#include "host/child_program.h"

#include "counting/counted_kernels.h"

#include "msleaks/runtime/sandbox.h"

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace msleaks::hooks {
namespace {

constexpr int kToldAt = 3, kLongestSeconds = 120;
constexpr uint64_t kLongestMs = kLongestSeconds * 1000, kNsPerMs = 1'000'000;

// Whether the program must not get this variable: it runs without hooks and outside of the session.
bool isOurs(const char *variable) {
  constexpr const char *kPrefixes[] = {"LD_PRELOAD=", "LD_AUDIT=", "MSLEAKS_SESSION=", "MSLEAKS_PASS="};
  for (const char *prefix : kPrefixes)
    if (std::strncmp(variable, prefix, std::strlen(prefix)) == 0)
      return true;
  return false;
}

// The environment of the process without these variables.
class Environment {
public:
  Environment() {
    size_t count = 0;
    while (environ != nullptr && environ[count] != nullptr)
      ++count;
    bytes_ = (count + 1) * sizeof(char *);
    list_ = static_cast<char **>(takePages(bytes_));
    size_t kept = 0;
    for (size_t i = 0; list_ != nullptr && i < count; ++i)
      if (!isOurs(environ[i]))
        list_[kept++] = environ[i];
  }
  ~Environment() {
    if (list_ != nullptr)
      givePages(list_, bytes_);
  }
  Environment(const Environment &) = delete;
  Environment &operator=(const Environment &) = delete;
  char **list() const { return list_; }

private:
  char **list_;
  uint64_t bytes_;
};

// Blocks all signals of this thread: no handler of the hooked program may run in the copy of the process.
class SignalsWait {
public:
  SignalsWait() {
    uint64_t all = UINT64_MAX;
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before_, sizeof all);
  }
  ~SignalsWait() { ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, sizeof before_); }
  SignalsWait(const SignalsWait &) = delete;
  SignalsWait &operator=(const SignalsWait &) = delete;

private:
  uint64_t before_ = 0;
};

// Runs in a copy of the process, so it makes only system calls. The descriptors to keep may have any numbers. So they
// are first copied to numbers from 100 on, and then to 0, 1, 2 and 3.
[[noreturn]] void become(const ChildProgram &program, int told, char **environment) {
  const int given[] = {program.input.descriptor(), program.output.descriptor(), program.messages.descriptor(), told};
  int copies[4];
  for (int i = 0; i < 4; ++i)
    copies[i] = static_cast<int>(::syscall(SYS_fcntl, given[i], F_DUPFD, 100));
  bool is_done = true;
  for (int i = 0; i < 4; ++i)
    is_done = is_done && copies[i] >= 0 && ::syscall(SYS_dup3, copies[i], i, 0) == i;
  ::syscall(SYS_close_range, kToldAt + 1, UINT_MAX,
            0); // a kernel without it leaves those open that are not close-on-exec
  const itimerval limit{{0, 0}, {kLongestSeconds, 0}};
  ::syscall(SYS_setitimer, ITIMER_REAL, &limit, nullptr);
  const uint64_t none = 0;
  if (is_done) {
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, sizeof none);
    ::syscall(SYS_execve, program.arguments[0], program.arguments, environment);
  }
  ::syscall(SYS_exit_group, 127);
  __builtin_unreachable();
}

// Starts the program in a process whose parent ends at once. So the hooked program's calls of wait do not find the
// process, and no signal reports its end.
bool start(const ChildProgram &program, int told, char **environment) {
  const SignalsWait waiting;
  const long between = ::syscall(SYS_clone, 0, 0, 0, 0, 0); // the kernel sends no signal at the child's end
  if (between < 0)
    return false;
  if (between == 0) {
    const long child = ::syscall(SYS_clone, 0, 0, 0, 0, 0);
    if (child == 0)
      become(program, told, environment);
    ::syscall(SYS_exit_group, child < 0 ? 1 : 0);
  }
  int status = 0;
  while (::syscall(SYS_wait4, between, &status, __WALL, nullptr) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool waitUntilDone(int told) {
  const uint64_t until_ms = now() / kNsPerMs + kLongestMs;
  for (uint64_t now_ms = now() / kNsPerMs; now_ms < until_ms; now_ms = now() / kNsPerMs) {
    pollfd reading{told, POLLIN, 0};
    const uint64_t left_ms = until_ms - now_ms;
    const timespec left{static_cast<time_t>(left_ms / 1000), static_cast<long>(left_ms % 1000 * kNsPerMs)};
    const long ready = ::syscall(SYS_ppoll, &reading, 1, &left, nullptr, 0);
    if (ready < 0 && errno == EINTR)
      continue;
    char answer = 0;
    return ready > 0 && ::syscall(SYS_read, told, &answer, 1) == 1 && answer == 1;
  }
  return false;
}

} // namespace

MemoryFile::MemoryFile(const char *name) noexcept
    : descriptor_(static_cast<int>(::syscall(SYS_memfd_create, name, MFD_CLOEXEC))) {}

MemoryFile::~MemoryFile() {
  if (descriptor_ >= 0)
    ::syscall(SYS_close, descriptor_);
}

uint64_t MemoryFile::bytes() const noexcept {
  const long end = descriptor_ >= 0 ? ::syscall(SYS_lseek, descriptor_, 0, SEEK_END) : 0;
  return end > 0 ? static_cast<uint64_t>(end) : 0;
}

bool MemoryFile::write(const void *from, uint64_t bytes) const noexcept {
  uint64_t done = 0;
  while (done < bytes) {
    const long part = ::syscall(SYS_pwrite64, descriptor_, static_cast<const char *>(from) + done, bytes - done, done);
    if (part <= 0)
      return false;
    done += static_cast<uint64_t>(part);
  }
  return descriptor_ >= 0;
}

bool MemoryFile::read(void *to, uint64_t bytes) const noexcept {
  uint64_t done = 0;
  while (done < bytes) {
    const long part = ::syscall(SYS_pread64, descriptor_, static_cast<char *>(to) + done, bytes - done, done);
    if (part <= 0)
      return false;
    done += static_cast<uint64_t>(part);
  }
  return descriptor_ >= 0;
}

bool runChild(const ChildProgram &program) noexcept {
  if (runtime::isSandboxed())
    return false;
  const Environment environment;
  int ends[2];
  if (environment.list() == nullptr || ::syscall(SYS_pipe2, ends, O_CLOEXEC) != 0)
    return false;
  const bool is_started = start(program, ends[1], environment.list());
  ::syscall(SYS_close, ends[1]); // so the wait also ends if the program ends without the byte
  const bool is_done = is_started && waitUntilDone(ends[0]);
  ::syscall(SYS_close, ends[0]);
  return is_done;
}

} // namespace msleaks::hooks
