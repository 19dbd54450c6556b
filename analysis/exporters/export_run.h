// A run, written in a format.
#pragma once

#include "analysis/exporters/exporter.h"
#include "analysis/report/analyze_run.h"
#include "analysis/report/question.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace msleaks::analysis::inline exporters {

// Which events: of these kinds (abi::enabledBit of each), from begin_ns to before end_ns.
struct EventChoice {
  uint32_t kinds = UINT32_MAX;
  uint64_t begin_ns = 0, end_ns = UINT64_MAX;
};

// Tells the exporter the events. Returns how many of any kind there were in that time. Ends with an error as soon as
// `out` has failed.
Result<uint64_t> exportEvents(const TraceReader &, EventExporter &, std::ostream &out, const EventChoice & = {},
                              const Progress & = {});

// Told while a run is exported; each may be empty.
struct ExportProgress {
  Progress reading;
  std::function<void()> writing; // the output begins: before the first event, or when the report is made
};

// All of a run, or its state at the moment of `question`, which only a format of reports has. Returns what of its
// events could not be read, a sentence each; a report says so itself. Fails when nothing could be read, and when `out`
// has failed.
Result<std::vector<std::string>> exportRun(const std::filesystem::path &run, const Format &, std::ostream &out,
                                           const ExportProgress & = {}, const ReportQuestion &question = {});

} // namespace msleaks::analysis::inline exporters
