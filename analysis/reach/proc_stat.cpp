#include "analysis/reach/proc_stat.h"

#include "analysis/base/machine.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>

namespace msleaks::analysis::inline reach {

bool ProcStat::hadBegun(uint64_t monotonic_ns) const {
  constexpr uint64_t kTickNs = 50'000'000; // start times have steps of 1 to 10 ms
  const uint64_t now_ns = readMonotonicNs();
  const uint64_t age_ns = readClockNs(CLOCK_BOOTTIME) - start_ns;
  return age_ns + kTickNs >= now_ns - std::min(monotonic_ns, now_ns);
}

// The name in parentheses may contain any characters, so the fields after the last parenthesis are counted.
std::optional<ProcStat> readProcStat(uint32_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  if (!std::getline(file, line) || line.rfind(')') == std::string::npos)
    return std::nullopt;
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  constexpr int kFirst = 4, kStartTime = 22, kExitCode = 52; // proc(5)
  ProcStat stat;
  fields >> stat.state;
  std::string field;
  for (int number = kFirst; number <= kExitCode && fields >> field; ++number) {
    if (number == kStartTime)
      stat.start_ns =
          std::strtoull(field.c_str(), nullptr, 10) * (1'000'000'000u / static_cast<uint64_t>(sysconf(_SC_CLK_TCK)));
    if (number == kExitCode)
      stat.wait_status = static_cast<int>(std::strtol(field.c_str(), nullptr, 10));
  }
  return stat;
}

} // namespace msleaks::analysis::inline reach
