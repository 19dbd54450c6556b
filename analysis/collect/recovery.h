// Completes the folder of a session whose collector was killed: stores the events that are still in the arenas.
#pragma once

#include "analysis/base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace msleaks::analysis::inline collect {

struct Recovered {
  bool already_complete = false; // there was nothing to do, and nothing was changed
  uint64_t events_added = 0;
  std::vector<std::string> still_running; // "pid 17 (train.py)": not recovered; recover again when they have ended
  std::vector<std::string> notes;
};

// `session`: the directory of the shared memory; empty: the manifest names it. A second call does no harm.
Result<Recovered> recoverRun(const std::filesystem::path &folder, const std::filesystem::path &session = {});

} // namespace msleaks::analysis::inline collect
