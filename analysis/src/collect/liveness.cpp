#include "collect/liveness.h"

#include "msleaks/analysis/clock.h"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <optional>
#include <signal.h>
#include <sstream>
#include <unistd.h>

namespace msleaks::analysis {
namespace {

struct ProcStat {
  char state = 0;
  uint64_t start_ns = 0; // CLOCK_BOOTTIME
};

// /proc/<pid>/stat: the name in parentheses may hold anything, so fields are counted from the last one.
std::optional<ProcStat> readStat(uint32_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  if (!std::getline(file, line) || line.rfind(')') == std::string::npos)
    return std::nullopt;
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  ProcStat stat;
  fields >> stat.state;
  uint64_t value = 0;
  constexpr int kStartTime = 22, kState = 3;
  for (int field = kState; field < kStartTime; ++field)
    fields >> value;
  stat.start_ns = value * (1'000'000'000u / static_cast<uint64_t>(sysconf(_SC_CLK_TCK)));
  return stat;
}

} // namespace

bool isStillRunning(const ArenaFacts &facts) {
  if (kill(static_cast<pid_t>(facts.pid), 0) != 0 && errno == ESRCH)
    return false;
  const auto stat = readStat(facts.pid);
  if (!stat)
    return true; // it exists, and more cannot be told
  if (stat->state == 'Z' || stat->state == 'X')
    return false;
  const uint64_t now_ns = readMonotonicNs();
  const uint64_t attach_age_ns = now_ns - std::min(facts.attach_ns, now_ns);
  const uint64_t start_age_ns = readClockNs(CLOCK_BOOTTIME) - stat->start_ns;
  constexpr uint64_t kToleranceNs = 1'000'000'000; // start times come in ticks
  return start_age_ns + kToleranceNs >= attach_age_ns;
}

std::string describeProcess(const ArenaFacts &facts) {
  return fmt::format("pid {} ({})", facts.pid, fmt::join(facts.command, " "));
}

} // namespace msleaks::analysis
