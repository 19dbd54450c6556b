// Finds the sessions that are being recorded, and their run folders.
#pragma once

#include "analysis/base/result.h"

#include <filesystem>

namespace msleaks::analysis::inline collect {

enum class Collecting { GoesOn, Ended, Orphaned };

// Returns the state of this folder's session, from its files alone. A collector that is busy, or stopped with its
// program, does not answer (session_status.h asks it). If the state is not known, the result is GoesOn.
Collecting howItStands(const std::filesystem::path &run);

// Returns the run folder of the newest session whose collector is alive. An error: there is none.
//
// The directories of sessions are in `shared_memory`, unless it had no room. The run folder is where the collector has
// its trace open, as the kernel says.
Result<std::filesystem::path> newestRunningRun(const std::filesystem::path &shared_memory = "/dev/shm");

} // namespace msleaks::analysis::inline collect
