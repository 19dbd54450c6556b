#include "analysis/reach/process_watch.h"

#include "analysis/base/machine.h"
#include "analysis/reach/proc_stat.h"
#include "msleaks/abi/session.h"

#include <cerrno>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace msleaks::analysis::inline reach {
namespace {

// Equals pidfd_info in linux/pidfd.h of Linux 6.15. The headers on the build machine may be older.
struct PidfdFacts {
  uint64_t mask;
  uint64_t cgroup;
  uint32_t ids[11];
  int32_t exit_code; // as waitpid returns it
};
static_assert(sizeof(PidfdFacts) == 64);
constexpr uint64_t kExitFacts = 1u << 3;
constexpr unsigned long kGetFacts = _IOWR(0xff, 11, PidfdFacts);

} // namespace

ProcessWatch::ProcessWatch(uint32_t pid, uint64_t attach_ns, uint64_t birth)
    : pid_(pid), attach_ns_(attach_ns), birth_(birth) {
  open();
}

void ProcessWatch::open() {
  pidfd_ = FileDescriptor(static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(pid_), 0)));
  reaped_ = !pidfd_.valid() && errno == ESRCH;
  if (!pidfd_.valid())
    return;
  if (isAnother()) {
    pidfd_.close();
    reaped_ = true;
    return;
  }
  was_alive_ = !pollEnd();
}

// Whether the pid now belongs to another process. The start of a process is known only to some ms.
bool ProcessWatch::isAnother() const {
  struct stat file{};
  if ((birth_ & abi::kBirthIsInode) != 0 && fstat(pidfd_.get(), &file) == 0)
    return abi::isOtherProcess(birth_, file.st_ino | abi::kBirthIsInode);
  const auto stat = readProcStat(pid_);
  return stat && !stat->hadBegun(attach_ns_);
}

bool ProcessWatch::pollEnd() const {
  pollfd ended{pidfd_.get(), POLLIN, 0};
  return poll(&ended, 1, 0) > 0;
}

bool ProcessWatch::hasEnded() {
  if (unseen())
    open();
  if (!pidfd_.valid())
    return reaped_;
  if (!pollEnd())
    return false;
  if (was_alive_ && ended_ns_ == 0)
    ended_ns_ = readMonotonicNs();
  return true;
}

// Whether the process, or its zombie, still exists. Then the pid still belongs to it.
bool ProcessWatch::isThere() const { return syscall(SYS_pidfd_send_signal, pidfd_.get(), 0, nullptr, 0) == 0; }

int ProcessWatch::waitStatus() const {
  if (!pidfd_.valid())
    return -1;
  if (const auto stat = readProcStat(pid_); stat && stat->hasEnded() && isThere())
    return stat->wait_status;
  PidfdFacts facts{};
  facts.mask = kExitFacts;
  return ioctl(pidfd_.get(), kGetFacts, &facts) == 0 && (facts.mask & kExitFacts) ? facts.exit_code : -1;
}

} // namespace msleaks::analysis::inline reach
