// The facts about a session that its trace and manifest contain besides events.
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

// Returns the processes of the trace, and those processes of the manifest that never attached.
std::vector<ReportProcess> processesOf(const TraceReader &, const std::map<uint32_t, ProcessFate> &, const Manifest &);

// Sets the command, the state, the start and the duration.
void describeSession(Report &, const Manifest &, const TraceReader &);
// Returns the start of the session. Times of a window are relative to it.
uint64_t startOf(const RunFolder &, const TraceReader &);

// Returns facts that may explain why another run needs other memory: host, msleaks, and the build of each library.
std::vector<NamedText> environmentOf(const Manifest &, const SiteCatalog &);

// Names the functions of the loaded drivers that msleaks does not know.
std::vector<std::string> driverNotesOf(const SiteCatalog &);

// Returns facts that a reader needs to judge the report, each in one line.
std::vector<std::string> notesOf(const Report &);

// Calls a function with each account. The order may differ from call to call (TraceReader::forEachAccount).
using EachAccount = std::function<void(const std::function<void(const StreamAccount &)> &)>;
// Returns the names of processes and threads. Reads the accounts at the first question for a thread's name. The names
// do not refer to `processes`.
Names namesOf(EachAccount, std::span<const ReportProcess>);

} // namespace msleaks::analysis::inline report
