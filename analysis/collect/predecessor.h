// The state that a collector takes over from the one before it.
#pragma once

#include "analysis/collect/collector.h"
#include "analysis/collect/stored_session.h"

namespace msleaks::analysis::inline collect {

// Of a session whose first collector was killed.
struct Collector::Predecessor {
  const TraceReader &trace;
  StoredSession stored;
};

} // namespace msleaks::analysis::inline collect
