// The status of a session, as `msleaks ctl RUN status` prints it.
#pragma once

#include "analysis/base/result.h"
#include "analysis/collect/process_collector.h"

#include <cstdint>
#include <filesystem>
#include <string>

namespace msleaks::analysis::inline collect {

struct SessionStatus {
  std::string state;      // recording, paused, ended, or orphaned: its collector was killed
  uint64_t processes = 0; // process images that attached so far
  ProcessTotals events;
  uint64_t since_ns = 0; // CLOCK_MONOTONIC: since when it has this state; 0 = not known
};

std::string jsonOf(const SessionStatus &);
Result<SessionStatus> parseStatus(const std::string &json);

// Returns the status of a run folder's session, with or without a collector.
Result<SessionStatus> statusOfRun(const std::filesystem::path &run);

// Returns the directory of the session that this run folder belongs to. An error: the session has ended (BadInput).
Result<std::filesystem::path> runningSession(const std::filesystem::path &run);

} // namespace msleaks::analysis::inline collect
