// Writes a run in a format.
#pragma once

#include "analysis/base/event_names.h"
#include "analysis/exporters/exporter.h"
#include "analysis/report/analyze_run.h"
#include "analysis/report/question.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace msleaks::analysis::inline exporters {

// The events to export: of these kinds (kindBit of each), with begin_ns <= time < end_ns, and in the window.
// Its times are those of the trace's clock.
struct EventChoice {
  uint64_t kinds = kEveryKind;
  uint64_t begin_ns = 0, end_ns = UINT64_MAX;
  Window window = {};
};

// Passes the chosen events to the exporter. Returns the number of events of all kinds in that time. Ends with an error
// as soon as `out` has failed, and if the run has no such step or mark as the window names.
Result<uint64_t> exportEvents(const TraceReader &, EventExporter &, std::ostream &out, const EventChoice & = {},
                              const Progress & = {});

// Functions that are called while a run is exported. Each may be empty.
struct ExportProgress {
  Progress reading;
  std::function<void()> writing; // called when the output begins: before the first event, or when the report is
                                 // finished
};

// Returns the blocks that `--of` names: "peak", "leaks" or "allocated".
Result<Blocks> parseBlocks(std::string_view name);

// Exports a run. `question` may have a moment if the format is one of reports, and a window if it is one of events. It
// may have suppressions if the output has leaks or findings. `of` chooses blocks if the format is one of paths; the
// leaks are those of the whole run. Returns a sentence for each part of the events that could not be read, unless the
// format itself contains these sentences. Fails if nothing could be read, or if the writing has failed. The target must
// be a folder exactly if the format is one.
Result<std::vector<std::string>> exportRun(const std::filesystem::path &run, const Format &, const ExportTarget &,
                                           const ExportProgress & = {}, const ReportQuestion &question = {},
                                           std::optional<Blocks> of = {});

} // namespace msleaks::analysis::inline exporters
