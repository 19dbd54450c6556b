// Completes the folder of a session whose collector was killed: what the arenas still hold goes into the trace.
#pragma once

#include "analysis/base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace msleaks::analysis::inline collect {

struct Recovered {
  bool already_complete = false; // nothing was to be done, nothing was touched
  uint64_t events_added = 0;
  std::vector<std::string> still_running; // "pid 17 (train.py)": left alone; recover again when they have ended
  std::vector<std::string> notes;
};

// `session` is where the shared memory is; empty: where the manifest says. Doing it twice does no harm.
Result<Recovered> recoverRun(const std::filesystem::path &folder, const std::filesystem::path &session = {});

} // namespace msleaks::analysis::inline collect
