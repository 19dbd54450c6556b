// An exporter writes a run in a format of somebody else's. There are two interfaces: over the events of a run, and over
// the result of its analysis. Rules: it writes to the stream that it is given and nowhere else; it need not look
// whether writing failed, whoever called it does. One of events has memory for places and threads, never for events. To
// add one: CONTRIBUTING.md.
#pragma once

#include "analysis/base/run_folder.h"
#include "analysis/live/launched_kernels.h"
#include "analysis/places/site_catalog.h"
#include "analysis/report/question.h"
#include "analysis/result/report.h"
#include "analysis/trace/trace_reader.h"

#include <iosfwd>
#include <memory>
#include <string_view>
#include <variant>

namespace msleaks::analysis::inline exporters {

// Data for an exporter of events, from begin() to end().
struct EventExport {
  const TraceReader &trace; // processes, threads
  SiteCatalog &catalog;     // places, and the labels that events name
  std::ostream &out;
  LaunchedKernels kernels{}; // up to the event that is told
};

class EventExporter {
public:
  virtual ~EventExporter() = default;
  virtual void begin(EventExport &) {}
  // In order of time; `site` is the event's one in the catalog.
  virtual void onEvent(EventExport &, const StreamEvent &, SiteId site) = 0;
  virtual void end(EventExport &) {}
};

class ReportExporter {
public:
  virtual ~ReportExporter() = default;
  // Writes what the run folder keeps in this format. False: it keeps nothing, so a report is made for write().
  virtual bool writeKept(const RunFolder &, std::ostream &) { return false; }
  // Whether the format has a form for the state at one moment.
  virtual bool hasMoments() const { return true; }
  // What the report must have beside what every report has.
  virtual void ask(ReportQuestion &) const {}
  virtual void write(const Report &, std::ostream &) = 0;
};

using Exporter = std::variant<std::unique_ptr<EventExporter>, std::unique_ptr<ReportExporter>>;

struct Format {
  std::string_view name;
  std::string_view summary; // for `msleaks export --list`
  Exporter (*make)();
};

} // namespace msleaks::analysis::inline exporters
