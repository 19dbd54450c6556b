// What a collector has from the one before it.
#pragma once

#include "collect/stored_session.h"
#include "msleaks/analysis/collector.h"

namespace msleaks::analysis {

// Of a session whose first collector was killed.
struct Collector::Predecessor {
  const TraceReader &trace;
  StoredSession stored;
};

} // namespace msleaks::analysis
