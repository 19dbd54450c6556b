// Starts another collector for a session whose own collector was killed: `msleaks ctl RUN adopt`.
#pragma once

#include "analysis/base/result.h"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace msleaks::analysis::inline collect {

struct Adopted {
  uint64_t events_added = 0;
  std::vector<std::string> notes;
};

// Collects until every process of the session has ended, or `stop` is set, and then completes the run folder. The
// collector appends to the same trace. Processes that still run go on recording. While the old collector is alive, the
// call fails (OwnFault).
Result<Adopted> adoptRun(const std::filesystem::path &run, const std::atomic<bool> &stop);

} // namespace msleaks::analysis::inline collect
