// Another collector for a session whose own was killed: `msleaks ctl RUN adopt`.
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

// Collects until every process of the session has ended, or `stop` is set, and then completes the run folder. It
// appends to the same trace, and recording goes on in the processes that are still running. Refused (OwnFault) while
// the old collector lives.
Result<Adopted> adoptRun(const std::filesystem::path &run, const std::atomic<bool> &stop);

} // namespace msleaks::analysis::inline collect
