// Makes the report of a run, or of a part of it.
//
// At the end of a session the launcher prints the short form and decides about its exit status:
//
//   auto report = finishRun(run_folder, running);
//   if (!report) …                              // one line: why there is no report; never a reason to fail the user
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

// Called now and then with what is being done and how far it is; the caller decides whether to show it.
using Progress = std::function<void(const std::string &doing)>;

// Reads the run, or the part that the question is about. Memory grows with what was alive at once and with the number
// of sites.
Result<Report> analyzeRun(const std::filesystem::path &run, const ReportQuestion &, const Progress &progress = {});
Result<Report> analyzeRun(const std::filesystem::path &run, const Progress &progress = {});

// The same at the end of a session: what the report's calls are called goes into the trace, so that the report can be
// made where the binaries are not. The memory over time goes into a file of the run folder. `running` has followed the
// run, or is null: then all of it is read now.
Result<Report> finishRun(const std::filesystem::path &run, RunningReport *running = nullptr,
                         const Progress &progress = {});

// The same without a report, for a session of which nobody wants one yet: only the names go into the trace. It reads
// the events, but does not work out what anything saves, which takes most of the time of a report.
Result<void> nameRun(const std::filesystem::path &run, const Progress &progress = {});

} // namespace msleaks::analysis::inline report
