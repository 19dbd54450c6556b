// An exporter writes a run in a format that other programs read. There are three interfaces: for the events of a run,
// for its report, and for its blocks. An exporter writes only to the stream or folder that it is given. It need not
// check whether the writing failed, because its caller does. The memory of an exporter of events may grow with places
// and threads, but not with events. To add an exporter, see CONTRIBUTING.md.
#pragma once

#include "analysis/base/output_folder.h"
#include "analysis/base/run_folder.h"
#include "analysis/exporters/faulted_blocks.h"
#include "analysis/live/launched_kernels.h"
#include "analysis/places/site_catalog.h"
#include "analysis/report/block_reader.h"
#include "analysis/report/question.h"
#include "analysis/result/report.h"
#include "analysis/trace/trace_reader.h"

#include <cstdint>
#include <memory>
#include <ostream>
#include <string_view>
#include <variant>

namespace msleaks::analysis::inline exporters {

// The place that an exporter writes to: a stream, or for some formats a folder.
class ExportTarget {
public:
  ExportTarget() = default;
  ExportTarget(std::ostream &stream) : stream_(&stream) {} // NOLINT(google-explicit-constructor)
  ExportTarget(OutputFolder &folder) : folder_(&folder) {} // NOLINT(google-explicit-constructor)

  std::ostream &stream() const { return *stream_; }
  OutputFolder &folder() const { return *folder_; }
  bool isFolder() const { return folder_ != nullptr; }
  // Whether all writing has succeeded so far.
  bool good() const { return folder_ ? folder_->written().has_value() : stream_->good(); }

private:
  std::ostream *stream_ = nullptr;
  OutputFolder *folder_ = nullptr;
};

// Data for an exporter of events, from begin() to end().
struct EventExport {
  const TraceReader &trace; // processes, threads
  SiteCatalog &catalog;     // places, and the labels that events name
  std::ostream &out;
  FaultedBlocks blocks;      // live blocks, if the run has page faults
  LaunchedKernels kernels{}; // kernels that were launched up to the current event
};

class EventExporter {
public:
  virtual ~EventExporter() = default;
  virtual void begin(EventExport &) {}
  // Called for each event, in the order of time. `site`: the event's site in the catalog.
  virtual void onEvent(EventExport &, const StreamEvent &, SiteId site) = 0;
  virtual void end(EventExport &) {}
};

// The blocks of a report that a format of paths may contain.
enum class Blocks : uint8_t { Peak, Leaks, Allocated };

class ReportExporter {
public:
  virtual ~ReportExporter() = default;
  // Writes a file of the run folder that already has this format. False: there is none, so a report is made for
  // write().
  virtual bool writeKept(const RunFolder &, std::ostream &) { return false; }
  // Whether the format can show the state at one moment.
  virtual bool hasMoments() const { return true; }
  // Chooses the blocks that write() writes, the peak's by default. False: the format has no such choice.
  virtual bool choose(Blocks) { return false; }
  // Whether the output depends on rules of suppression, because it has leaks or findings.
  virtual bool hasLeaks() const { return true; }
  // Whether write() writes the damage of the trace, too.
  virtual bool listsDamage() const { return true; }
  // Adds to the question what the report must contain besides its usual content.
  virtual void ask(ReportQuestion &) const {}
  virtual void write(const Report &, std::ostream &) {}
  // The same for a format that is a folder.
  virtual void write(const Report &, OutputFolder &) {}
};

// Receives the finished report, and then each block in the order of time (report/block_reader.h). An exporter never
// pairs allocations and frees itself.
class BlockExporter : public BlockReader {
public:
  // Call it before the reading. `to` must outlive the exporter.
  void writeTo(const ExportTarget &to) { to_ = to; }
  // Gets what the format needs on this machine, before the run is read.
  virtual Result<void> prepare() { return {}; }
  bool goesOn() const final { return to_.good(); }

protected:
  std::ostream &out() { return to_.stream(); }
  OutputFolder &folder() { return to_.folder(); }

private:
  ExportTarget to_;
};

using Exporter =
    std::variant<std::unique_ptr<EventExporter>, std::unique_ptr<ReportExporter>, std::unique_ptr<BlockExporter>>;

struct Format {
  std::string_view name;
  std::string_view summary; // for `msleaks export --list`
  Exporter (*make)();
  bool is_folder = false; // of several files
};

} // namespace msleaks::analysis::inline exporters
