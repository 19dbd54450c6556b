// The report of a run: what `msleaks report` shows, as a value (docs/report.md).
#pragma once

#include "analysis/base/result.h"
#include "analysis/live/live_set.h"
#include "analysis/places/patterns.h"
#include "analysis/result/result.h"

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace msleaks::analysis::inline result {

struct EventAccount {
  uint64_t produced = 0, stored = 0, dropped = 0, stalled_ns = 0;
  uint64_t missing = 0; // produced, not dropped, and not in the trace: damage, or a process killed while recording
  bool complete() const { return dropped == 0 && missing == 0; }
};

// A fact about a run that may explain why another run needs more or less memory.
struct NamedText {
  std::string name, text;
};

// The moment that a report is about, if it only has the blocks that were alive then.
struct ReportMoment {
  std::string name;     // as the user named it: "peak", "step:3", "1.5s"
  uint64_t time_ns = 0; // CLOCK_MONOTONIC
};

struct Report : AnalysisResult {
  std::string run;     // the folder, as the user named it
  std::string state;   // the manifest's: "running", "complete", "recovered"; empty without a manifest
  bool closed = false; // the session ended in order, or was recovered
  std::vector<std::string> command;
  uint64_t start_ns = 0, duration_ns = 0;
  std::optional<ReportMoment> at; // then `peak` has the blocks of this moment
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

// Leaves only lines, findings and rows whose place, type or variable has the pattern in it. Totals stay those of all.
void keepMatching(Report &, const Pattern &);

void writeReportJson(std::ostream &, const Report &);
// Reads what writeReportJson() wrote (docs/report.md, "A result file").
Result<Report> readReportJson(const std::filesystem::path &file);
// Whether the path is a regular file that begins as such a JSON, and is no trace.
bool isResultFile(const std::filesystem::path &file);

} // namespace msleaks::analysis::inline result
