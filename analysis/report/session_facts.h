// What a trace and its manifest say of a session besides its events.
#pragma once

#include "analysis/findings/conclusion.h"
#include "analysis/report/report.h"
#include "analysis/run/run_folder.h"
#include "analysis/stream/pipeline.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace msleaks::analysis {

EventAccount accountOf(const TraceReader &, uint64_t stored);

// Those of the trace, and those of the manifest that never attached.
std::vector<ReportProcess> processesOf(const TraceReader &, const std::map<uint32_t, ProcessFate> &, const Manifest &);

// Command, state, begin and duration.
void describeSession(Report &, const Manifest &, const TraceReader &);

// What a reader of the report must know to trust it, in one line each.
std::vector<std::string> notesOf(const Report &);

// Of processes and threads. Neither reader nor processes may go before the names.
Names namesOf(const TraceReader &, const std::vector<ReportProcess> &);

} // namespace msleaks::analysis
