#include "msleaks/analysis/process_watch.h"

#include <cerrno>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <poll.h>
#include <sstream>
#include <string>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace msleaks::analysis {
namespace {

// linux/pidfd.h of Linux 6.15; the headers that we build with may be older.
struct PidfdFacts {
  uint64_t mask;
  uint64_t cgroup;
  uint32_t ids[11];
  int32_t exit_code; // as from waitpid
};
static_assert(sizeof(PidfdFacts) == 64);
constexpr uint64_t kExitFacts = 1u << 3;
constexpr unsigned long kGetFacts = _IOWR(0xff, 11, PidfdFacts);

// Of a process that has ended and has not been reaped: the last field of its line.
std::optional<int> statusOfZombie(uint32_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  if (!std::getline(file, line) || line.rfind(')') == std::string::npos)
    return std::nullopt;
  std::istringstream fields(line.substr(line.rfind(')') + 1)); // the name in parentheses may hold anything
  std::string field;
  if (!(fields >> field) || field != "Z")
    return std::nullopt;
  while (fields >> field)
    ;
  return std::atoi(field.c_str());
}

} // namespace

ProcessWatch::ProcessWatch(uint32_t pid) : pid_(pid) { open(); }

void ProcessWatch::open() {
  pidfd_ = FileDescriptor(static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(pid_), 0)));
  reaped_ = !pidfd_.valid() && errno == ESRCH;
}

bool ProcessWatch::hasEnded() {
  if (unseen())
    open();
  if (!pidfd_.valid())
    return reaped_;
  pollfd ended{pidfd_.get(), POLLIN, 0};
  return poll(&ended, 1, 0) > 0;
}

// Also as a zombie: so the number is still its own.
bool ProcessWatch::isThere() const { return syscall(SYS_pidfd_send_signal, pidfd_.get(), 0, nullptr, 0) == 0; }

int ProcessWatch::waitStatus() const {
  if (!pidfd_.valid())
    return -1;
  if (const auto status = statusOfZombie(pid_); status && isThere())
    return *status;
  PidfdFacts facts{};
  facts.mask = kExitFacts;
  return ioctl(pidfd_.get(), kGetFacts, &facts) == 0 && (facts.mask & kExitFacts) ? facts.exit_code : -1;
}

} // namespace msleaks::analysis
