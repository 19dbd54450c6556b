// Makes the report of a run, or of a part of it.
//
// At the end of a session, msleaks-run prints the short form and computes its exit status:
//
//   auto report = finishRun(run_folder, running);
// if (!report) … // one line says why there is no report; the user's program must not fail
//   printShortReport(*report, std::cerr);
//   if (report->hasFindings()) …                // --error-exitcode
#pragma once

#include "analysis/base/result.h"
#include "analysis/report/question.h"
#include "analysis/result/report.h"

#include <filesystem>
#include <functional>
#include <string>

namespace msleaks::analysis::inline report {

class RunningReport;

// Called from time to time with the present work and its progress. The caller decides whether to show it.
using Progress = std::function<void(const std::string &doing)>;

// Reads the run, or only the part that the question names. Its memory grows with the number of blocks that are alive at
// the same time, and with the number of sites.
Result<Report> analyzeRun(const std::filesystem::path &run, const ReportQuestion &, const Progress &progress = {});
Result<Report> analyzeRun(const std::filesystem::path &run, const Progress &progress = {});

// The same at the end of a session. Also writes the names of the report's calls into the trace, so that a report can be
// made on a machine without the binaries. Writes the memory over time into a file of the run folder. `running` has
// followed the run; if it is null, reads the whole run now.
Result<Report> finishRun(const std::filesystem::path &run, RunningReport *running = nullptr,
                         const Progress &progress = {});

// The same for a session that needs no report yet: only writes the names into the trace. It reads the events, but does
// not compute what findings save, which takes most of the time of a report.
Result<void> nameRun(const std::filesystem::path &run, const Progress &progress = {});

} // namespace msleaks::analysis::inline report
