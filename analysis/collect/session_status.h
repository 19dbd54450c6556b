// How a session stands, as `msleaks ctl RUN status` says it.
#pragma once

#include "analysis/base/result.h"
#include "analysis/collect/process_collector.h"

#include <cstdint>
#include <filesystem>
#include <string>

namespace msleaks::analysis::inline collect {

struct SessionStatus {
  std::string state;      // recording, paused, ended, or orphaned: its collector was killed
  uint64_t processes = 0; // images that attached so far
  ProcessTotals events;
  uint64_t since_ns = 0; // CLOCK_MONOTONIC: in this state; 0 = not known
};

std::string jsonOf(const SessionStatus &);
Result<SessionStatus> parseStatus(const std::string &json);

// By its run folder, whether or not there is a collector to ask.
Result<SessionStatus> statusOfRun(const std::filesystem::path &run);

// The directory of a session that is, or was last, recorded into this run folder. An error that it has ended: BadInput.
Result<std::filesystem::path> runningSession(const std::filesystem::path &run);

} // namespace msleaks::analysis::inline collect
