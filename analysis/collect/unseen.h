// Reports of processes that use the runtime, but could not make an arena (abi/session.h).
#pragma once

#include "analysis/base/run_folder.h"
#include "analysis/collect/session_dir.h"

#include <string>
#include <vector>

namespace msleaks::analysis::inline collect {

struct Unseen {
  uint64_t dropped = 0; // events of processes that found no collector
  std::vector<RunProcess> processes;
  std::vector<std::string> notes; // the processes, and the reasons
};

Unseen readUnseen(const SessionDir &);

} // namespace msleaks::analysis::inline collect
