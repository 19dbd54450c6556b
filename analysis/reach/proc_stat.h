// Reads /proc/<pid>/stat.
#pragma once

#include <cstdint>
#include <optional>

namespace msleaks::analysis::inline reach {

struct ProcStat {
  char state = 0;
  uint64_t start_ns = 0; // CLOCK_BOOTTIME
  int wait_status = 0;   // as waitpid returns it; 0 until the process has ended

  bool hasEnded() const { return state == 'Z' || state == 'X'; }
  // Whether the process existed at this time of CLOCK_MONOTONIC. If not, its pid belonged to another process then.
  bool hadBegun(uint64_t monotonic_ns) const;
};

// Nothing: there is no such process, or it may not be read.
std::optional<ProcStat> readProcStat(uint32_t pid);

} // namespace msleaks::analysis::inline reach
