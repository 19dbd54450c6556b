// Facts about a session from its trace and manifest, besides events.
#pragma once

#include "analysis/base/run_folder.h"
#include "analysis/findings/conclusion.h"
#include "analysis/places/site_catalog.h"
#include "analysis/result/report.h"
#include "analysis/stream/pipeline.h"

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace msleaks::analysis::inline report {

EventAccount accountOf(const TraceReader &, uint64_t stored);

// Those of the trace, and those of the manifest that never attached.
std::vector<ReportProcess> processesOf(const TraceReader &, const std::map<uint32_t, ProcessFate> &, const Manifest &);

// Command, state, begin and duration.
void describeSession(Report &, const Manifest &, const TraceReader &);

// Returns facts that may explain why another run needs other memory: host, msleaks, and the build of each library.
std::vector<NamedText> environmentOf(const Manifest &, const SiteCatalog &);

// Facts that a reader needs to trust the report, a line each.
std::vector<std::string> notesOf(const Report &);

// Calls a function with each account, each time in any order (TraceReader::forEachAccount).
using EachAccount = std::function<void(const std::function<void(const StreamAccount &)> &)>;
// Names of processes and threads. The accounts are read when the name of a thread is asked for first. The names do not
// refer to the list of processes.
Names namesOf(EachAccount, std::span<const ReportProcess>);

} // namespace msleaks::analysis::inline report
