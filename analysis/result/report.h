// The report of a run as a value: it contains what `msleaks report` shows (docs/report.md).
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
  uint64_t missing = 0; // not dropped, but missing in the trace: damage, or a process that was killed while it recorded
  bool complete() const { return dropped == 0 && missing == 0; }
};

// A fact about a run that may explain why another run needs more or less memory.
struct NamedText {
  std::string name, text;
};

// If a report contains only the blocks that were alive at one moment: this moment.
struct ReportMoment {
  std::string name;     // as the user wrote it: "peak", "step:3", "1.5s"
  uint64_t time_ns = 0; // CLOCK_MONOTONIC
};

struct Report : AnalysisResult {
  std::string run;     // the folder, as the user wrote it
  std::string state;   // the state in the manifest: "running", "complete", "recovered"; empty without a manifest
  std::string source;  // the tool that recorded the run; empty: msleaks-run
  bool closed = false; // the session ended in order, or was recovered
  std::vector<std::string> command;
  uint64_t start_ns = 0, duration_ns = 0;
  std::optional<ReportMoment> at; // if set, `peak` contains the blocks of this moment
  EventAccount events;
  uint64_t collector_cpu_ns = 0;
  double events_per_s = 0;
  std::vector<ReportProcess> processes;
  LiveSetCounts counts;
  std::vector<std::string> damage, notes;
  std::vector<NamedText> environment;        // host, version and options of msleaks, and each library with its build id
  std::vector<std::string> failed_analyzers; // the user's analyzers that failed; `notes` names them, too

  // Determines the exit status (docs/report.md, "Findings that count").
  bool hasFindings() const { return found_leaks.sum.count != 0 || found_leaks.pool_sum.count != 0 || !watch.empty(); }
  // Whether the session ended and no known part of it is missing.
  bool complete() const;
  // The number of processes that msleaks never recorded. No number of the report includes their allocations.
  size_t unseenProcesses() const;
};

// Keeps only lines, findings and rows whose place, type or variable matches the pattern. Does not change totals.
void keepMatching(Report &, const Pattern &);

void writeReportJson(std::ostream &, const Report &);
// Reads a file that writeReportJson() wrote (docs/report.md, "A result file").
Result<Report> readReportJson(const std::filesystem::path &file);
// Whether the path is a regular file that begins like such a JSON, and so is no trace.
bool isResultFile(const std::filesystem::path &file);

} // namespace msleaks::analysis::inline result
