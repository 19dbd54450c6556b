// Finds where to begin to read, if a report is about a part of a run.
#pragma once

#include "analysis/report/run_analysis.h"
#include "analysis/stream/selection.h"
#include "analysis/trace/trace_reader.h"

#include <cstdint>

namespace msleaks::analysis::inline report {

struct WindowBegin {
  uint64_t first_ns = 0; // time of the first event to read
  uint64_t events = 0;   // number of events before it
};

// Sets an analysis without events to the last checkpoint before the window. If there is none, the analysis begins with
// the first event.
WindowBegin goToWindow(const Window &, const TraceReader &, RunAnalysis &);

} // namespace msleaks::analysis::inline report
