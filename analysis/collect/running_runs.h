// Which sessions are recorded now, and into which run folders.
#pragma once

#include "analysis/base/result.h"

#include <filesystem>

namespace msleaks::analysis::inline collect {

enum class Collecting { GoesOn, Ended, Orphaned };

// How the session of this run folder stands, from its files alone: a collector that is busy, or stopped with its
// program, need not answer (session_status.h asks it). What cannot be told goes on.
Collecting howItStands(const std::filesystem::path &run);

// The run folder of the session that began last among those whose collector is alive. An error: there is none.
//
// The directories of sessions lie in `shared_memory`, unless there was no room; the folder is told by the kernel: it is
// where the collector has its trace open.
Result<std::filesystem::path> newestRunningRun(const std::filesystem::path &shared_memory = "/dev/shm");

} // namespace msleaks::analysis::inline collect
