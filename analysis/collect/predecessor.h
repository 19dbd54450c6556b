// The state that a collector takes over from a killed collector.
#pragma once

#include "analysis/collect/collector.h"
#include "analysis/collect/stored_session.h"

namespace msleaks::analysis::inline collect {

// The trace that the killed collector left, and what this trace contains.
struct Collector::Predecessor {
  const TraceReader &trace;
  StoredSession stored;
};

} // namespace msleaks::analysis::inline collect
