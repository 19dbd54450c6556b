// The report of a run: what `msleaks report` shows, as a value, and its forms for people and programs (docs/report.md).
//
// At the end of a session the launcher prints the short form and decides about its exit status:
//
//   auto report = finishRun(run_folder);
//   if (!report) …                              // one line: why there is no report; never a reason to fail the user
//   printShortReport(*report, std::cerr);
//   if (report->hasFindings()) …                // --error-exitcode
#pragma once

#include "msleaks/analysis/leaks.h"
#include "msleaks/analysis/live_set.h"
#include "msleaks/analysis/peak.h"
#include "msleaks/analysis/result.h"
#include "msleaks/analysis/site_text.h"

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

struct ReportProcess {
  uint32_t process = 0; // number in the trace; 0 = it never recorded anything
  uint32_t pid = 0;
  std::vector<std::string> command;
  std::optional<int> exit; // as a shell reports it
  FreeCause fate = FreeCause::StillAlive;
};

// Blocks of a line that one path led to. Paths share the texts of their calls.
struct PathLine {
  uint64_t bytes = 0, count = 0;
  std::vector<std::shared_ptr<const SiteText>> calls; // the allocator's caller first
  bool complete = false;                              // the last one is the first call of its thread
  SiteId site;                                        // of the blocks, in the catalog that the report was made of
};

// A list has at most so many calls in all its paths; those with the most bytes are there.
inline constexpr size_t kMaxCallsOfList = 100'000;

// One line of a list: the place, and the paths that led there, most bytes first.
struct SiteLine {
  SiteText site;
  AllocatorText allocator;
  uint64_t bytes = 0, count = 0;
  std::vector<PathLine> paths;
  uint64_t more_paths = 0; // that are left out
  bool own = false;        // in code of the user's own: such lines come first
  std::string child;       // the program of a child process that the place is in; empty: it is in the first one's
};
struct NamedLine {
  std::string name; // empty = not known
  uint64_t bytes = 0, count = 0;
};
struct LeakLine : SiteLine { // `bytes` and `count` are those of `remains`
  SiteRemains remains;
  std::string reason; // why it is suppressed
};

struct HeapPeak {
  abi::Heap heap = abi::Heap::Host;
  uint64_t bytes = 0, time_ns = 0;
  std::vector<SiteLine> by_site; // without paths
};
struct PeakReport {
  uint64_t bytes = 0, time_ns = 0; // CLOCK_MONOTONIC
  std::vector<SiteLine> by_site;
  std::vector<NamedLine> by_type, by_owner;
  std::vector<HeapPeak> by_heap; // only heaps that were used
  std::vector<ProcessPeak> by_process;
};

// Blocks of physical heaps, and apart from them those of pools, which are parts of the former.
struct RemainsReport {
  BlockSum sum;
  std::vector<LeakLine> by_site;
  BlockSum pool_sum;
  std::vector<LeakLine> pool_by_site;
  bool empty() const { return sum.count == 0 && pool_sum.count == 0; }
};

// Lists are sorted: own code first, then by bytes, then by place; so the same run gives the same report.
struct Report {
  std::string run;     // the folder, as the user named it
  std::string state;   // of the manifest: "running", "complete", "recovered"; empty without a manifest
  bool closed = false; // the session ended in order, or was recovered
  std::vector<std::string> command;
  uint64_t start_ns = 0, duration_ns = 0;
  EventAccount events;
  uint64_t collector_cpu_ns = 0;
  double events_per_s = 0;
  std::vector<ReportProcess> processes;
  PeakReport peak;
  RemainsReport leaks;      // their process exited
  RemainsReport suppressed; // the same, known to be harmless
  RemainsReport alive;      // their process was killed or goes on
  RemainsReport unsure;     // their free may lie in a pause of the recording
  LiveSetCounts counts;
  std::vector<std::string> damage, notes;

  bool hasFindings() const { return !leaks.empty(); }
  // The session ended, and nothing of it is missing that msleaks knows of.
  bool complete() const;
  // Those that never attached: what they allocated is in no figure.
  size_t unseenProcesses() const;
};

// Called now and then with what is being done and how far it is; the caller decides whether to show it.
using Progress = std::function<void(const std::string &doing)>;

// Reads the whole run. Memory grows with what was alive at once and with the number of sites.
Result<Report> analyzeRun(const std::filesystem::path &run, const Progress &progress = {});

// The same at the end of a session: what the report's calls are called goes into the trace, so that the report can be
// made where the binaries are not.
Result<Report> finishRun(const std::filesystem::path &run, const Progress &progress = {});

void writeReportJson(std::ostream &, const Report &);

struct TableStyle {
  size_t columns = 80;
  size_t top = 10;    // lines of each list
  bool color = false; // only for a terminal
};
void writeReportTable(std::ostream &, const Report &, const TableStyle &);

// At most twelve lines; see the top of this file.
void printShortReport(const Report &, std::ostream &, size_t columns = 80);

} // namespace msleaks::analysis
