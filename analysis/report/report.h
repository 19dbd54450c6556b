// The report of a run: what `msleaks report` shows, as a value, and its forms for people and programs (docs/report.md).
//
// At the end of a session the launcher prints the short form and decides about its exit status:
//
//   auto report = finishRun(run_folder, running);
//   if (!report) …                              // one line: why there is no report; never a reason to fail the user
//   printShortReport(*report, std::cerr);
//   if (report->hasFindings()) …                // --error-exitcode
#pragma once

#include "analysis/base/result.h"
#include "analysis/findings/result.h"
#include "analysis/live/live_set.h"
#include "analysis/report/question.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace msleaks::analysis {

struct EventAccount {
  uint64_t produced = 0, stored = 0, dropped = 0, stalled_ns = 0;
  uint64_t missing = 0; // produced, not dropped, and not in the trace: damage, or a process killed while recording
  bool complete() const { return dropped == 0 && missing == 0; }
};

// A fact about a run that may explain why another run needs more or less memory.
struct NamedText {
  std::string name, text;
};

class RunningReport;

struct Report : AnalysisResult {
  std::string run;     // the folder, as the user named it
  std::string state;   // the manifest's: "running", "complete", "recovered"; empty without a manifest
  bool closed = false; // the session ended in order, or was recovered
  std::vector<std::string> command;
  uint64_t start_ns = 0, duration_ns = 0;
  EventAccount events;
  uint64_t collector_cpu_ns = 0;
  double events_per_s = 0;
  std::vector<ReportProcess> processes;
  LiveSetCounts counts;
  std::vector<std::string> damage, notes;
  std::vector<NamedText> environment;        // host, version and options of msleaks, and each library with its build id
  std::vector<std::string> failed_analyzers; // of the user's own; also notes

  // Decides the exit status (docs/report.md, "Findings that count").
  bool hasFindings() const { return found_leaks.sum.count != 0 || found_leaks.pool_sum.count != 0 || !watch.empty(); }
  // The session ended, and nothing of it is missing that msleaks knows of.
  bool complete() const;
  // Those that never attached: what they allocated is in no figure.
  size_t unseenProcesses() const;
};

// Called now and then with what is being done and how far it is; the caller decides whether to show it.
using Progress = std::function<void(const std::string &doing)>;

// Reads the run, or the part that the question is about. Memory grows with what was alive at once and with the number
// of sites.
Result<Report> analyzeRun(const std::filesystem::path &run, const ReportQuestion &, const Progress &progress = {});
Result<Report> analyzeRun(const std::filesystem::path &run, const Progress &progress = {});

// The same at the end of a session: what the report's calls are called goes into the trace, so that the report can be
// made where the binaries are not. `running` has followed the run, or is null: then all of it is read now.
Result<Report> finishRun(const std::filesystem::path &run, RunningReport *running = nullptr,
                         const Progress &progress = {});

// The same without a report, for a session of which nobody wants one yet: only the names go into the trace. It reads
// the events, but does not work out what anything saves, which takes most of the time of a report.
Result<void> nameRun(const std::filesystem::path &run, const Progress &progress = {});

// Leaves only lines, findings and rows whose place, type or variable has the pattern in it. Totals stay those of all.
void keepMatching(Report &, const Pattern &);

void writeReportJson(std::ostream &, const Report &);
// Reads what writeReportJson() wrote (docs/report.md, "A result file").
Result<Report> readReportJson(const std::filesystem::path &file);
// Whether the path is a regular file that begins as such a JSON, and is no trace.
bool isResultFile(const std::filesystem::path &file);

// How the report is drawn as text.
struct TableStyle {
  size_t columns = 80;
  size_t top = 10;                     // findings, and rows of each table
  bool color = false;                  // only for a terminal
  std::string sort = {};               // by what tables are sorted: bytes (and empty), count, place, age
  uint64_t least_bytes = 0;            // rows and findings with fewer are left out
  std::vector<std::string> shown = {}; // columns of tables (rowColumns); none: bytes, share, sum, blocks
};
// Names of columns that a table of places can show.
std::vector<std::string> rowColumns();

// All parts of the report, one after the other.
void writeReportTable(std::ostream &, const Report &, const TableStyle &);

// Names of the parts of this report: "findings", "leaks", … and those of its sections, in their order.
std::vector<std::string> partNames(const Report &);
// These parts, in the order of `names`; a part without content is one line. An error of the usage if a name is unknown.
Result<void> writeParts(std::ostream &, const Report &, const TableStyle &, const std::vector<std::string> &names);

// Prints the first screen (docs/report.md, "The first screen"): at most 40 lines if `style.top` is at most
// kScreenRows and neither the report nor the style asks for tables of its own.
inline constexpr size_t kScreenRows = 5, kScreenColumns = 100;
void writeScreen(std::ostream &, const Report &, const TableStyle &style);

// At most twelve lines; see the top of this file.
void printShortReport(const Report &, std::ostream &, size_t columns = 80);

} // namespace msleaks::analysis
