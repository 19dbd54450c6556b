// Where to begin reading when a report is about a part of a run.
#pragma once

#include "analysis/report/run_analysis.h"
#include "analysis/stream/selection.h"
#include "analysis/trace/trace_reader.h"

#include <cstdint>

namespace msleaks::analysis::inline report {

struct WindowBegin {
  uint64_t first_ns = 0; // events from this time on are to be told
  uint64_t events = 0;   // that lie before it
};

// Brings an analysis that waits for its first event to the last checkpoint before the window; where there is none, it
// begins with the first event.
WindowBegin goToWindow(const Window &, const TraceReader &, RunAnalysis &);

} // namespace msleaks::analysis::inline report
