#include "analysis/report/analyze_run.h"
#include "analysis/base/output.h"
#include "analysis/base/run_folder.h"
#include "analysis/report/question.h"
#include "analysis/report/run_analysis.h"
#include "analysis/report/running_report.h"
#include "analysis/report/session_facts.h"
#include "analysis/report/turnover.h"
#include "analysis/report/window_begin.h"
#include "analysis/result/report.h"
#include "analysis/stream/event_window.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <sstream>
#include <tuple>

namespace msleaks::analysis::inline report {

namespace {

// Several processes may have had the same pid, and several threads the same tid.
Result<Selection> selectionOf(const ReportQuestion &question, const TraceReader &reader) {
  Selection selection;
  selection.heap = question.heap;
  selection.processes = question.processes;
  const auto missing = [](const char *what, uint32_t number) {
    return tl::make_unexpected(Error{fmt::format("the run has no {} {}", what, number), ExitStatus::Usage});
  };
  if (question.pid) {
    selection.processes.emplace();
    for (const ProcessStart &start : reader.processes())
      if (start.pid == *question.pid)
        selection.processes->insert(start.process);
    if (selection.processes->empty())
      return missing("process", *question.pid);
  }
  if (question.tid) {
    selection.threads.emplace();
    reader.forEachAccount([&](const StreamAccount &stream) {
      if (stream.tid == *question.tid)
        selection.threads->insert({stream.process, stream.stream});
    });
    if (selection.threads->empty())
      return missing("thread", *question.tid);
  }
  return selection;
}

double rateOf(const Report &report) {
  return report.duration_ns == 0
             ? 0
             : static_cast<double>(report.events.produced) * 1e9 / static_cast<double>(report.duration_ns);
}

void append(std::vector<std::string> &to, const std::vector<std::string> &from) {
  to.insert(to.end(), from.begin(), from.end());
}

// The files of a run, before the analysis.
struct Recorded {
  static Result<Recorded> open(const std::filesystem::path &run) {
    auto folder = MSL_TRY(RunFolder::open(run));
    auto reader = MSL_TRY(TraceReader::open(folder.trace()));
    auto fates = fatesOf(reader);
    auto manifest = folder.readManifest();
    return Recorded{run, std::move(folder), std::move(reader), std::move(fates), std::move(manifest)};
  }
  // The parts of the report that need no events.
  Report facts() const;

  std::filesystem::path run;
  RunFolder folder;
  TraceReader reader;
  std::map<uint32_t, ProcessFate> fates;
  Result<Manifest> manifest;
};

Report Recorded::facts() const {
  Report report;
  report.run = run.string();
  if (!manifest)
    report.notes.push_back("no manifest, so no command and no cost: " + manifest.error().message);
  const Manifest known = manifest.value_or(Manifest{});
  report.processes = processesOf(reader, fates, known);
  describeSession(report, known, reader);
  return report;
}

// Passes on everything that must be known before the first event.
Result<void> prepare(const Recorded &recorded, RunAnalysis &analysis) {
  const TraceReader &reader = recorded.reader;
  MSL_TRY(reader.forEachNames([&](const ImageNames &names) { analysis.symbolizer.add(names); }));
  MSL_TRY(analysis.catalog.load(reader));
  for (const auto &[process, fate] : recorded.fates)
    analysis.pipeline.expectEnd(process, fate);
  for (const ProcessStart &start : reader.processes())
    analysis.pipeline.setPageBytes(start.process, start.page_bytes);
  MSL_TRY(reader.forEachPointedPlace(
      [&](uint64_t time_ns, auto read) { analysis.pipeline.expectPointers(time_ns, std::move(read)); }));
  return {};
}

// Passes all events after `begin` to the pipeline, but none after the end of the window. Returns the number of these
// events and of the events before `begin`.
Result<uint64_t> replay(const TraceReader &reader, const WindowBegin &begin, Pipeline &pipeline,
                        const Progress &progress) {
  ReadProgress read(progress, reader.eventCount());
  read.onEvents(begin.events);
  const auto tell = [&](const StreamEvent &event) {
    pipeline.apply(event);
    if (pipeline.isDone())
      return false;
    read.onEvent();
    return true;
  };
  const uint64_t events = MSL_TRY(reader.forEachEvent(Reading::Ahead, tell, {begin.first_ns, UINT64_MAX}));
  pipeline.finish();
  return begin.events + events;
}

Result<uint64_t> readAll(const Recorded &recorded, const Window &window, RunAnalysis &analysis,
                         const Progress &progress) {
  MSL_TRY(prepare(recorded, analysis));
  const WindowBegin begin = goToWindow(window, recorded.reader, analysis);
  return replay(recorded.reader, begin, analysis.pipeline, progress);
}

// Ignores samples that cannot be read: damage() lists them.
ResidentHistory residentOf(const Recorded &recorded) {
  ResidentHistory resident;
  for (const auto &[process, fate] : recorded.fates)
    if (fate.cause != FreeCause::StillAlive)
      resident.end(process, fate.time_ns);
  (void)recorded.reader.forEachResident([&](std::span<const ResidentSample> samples) { resident.add(samples); });
  return resident;
}

// Asks the analyzers for their results after `stored` events.
void conclude(Report &report, const Recorded &recorded, RunAnalysis &analysis, uint64_t stored,
              const ReportQuestion &question, const Progress &progress) {
  if (progress)
    analysis.symbolizer.onLookUp([&](uint64_t names) { progress(fmt::format("naming calls, {} so far", names)); });
  const Pipeline &pipeline = analysis.pipeline;
  report.events = accountOf(recorded.reader, stored);
  report.counts = pipeline.liveSet().counts();
  report.events_per_s = rateOf(report);
  const Names names = namesOf([&](const auto &f) { recorded.reader.forEachAccount(f); }, report.processes);
  const ResidentHistory resident = residentOf(recorded);
  Conclusion conclusion(analysis.catalog, pipeline.liveSet().cohorts(), pipeline.history(), report.processes, question,
                        names, resident, pipeline.liveSet().useSources());
  conclusion.start_ns = report.start_ns;
  if (question.window.hasAll() && !question.at)
    recorded.reader.forEachAccount([&](const StreamAccount &stream) {
      conclusion.stalled_ns[{stream.process, threadApart(stream.stream)}] += stream.stalled_ns;
    });
  for (const auto &analyzer : analysis.analyzers)
    analyzer->conclude(conclusion);
  for (const ForeignAnalyzer &analyzer : analysis.own_analyzers) {
    analyzer.conclude(conclusion);
    if (analyzer.failure())
      report.failed_analyzers.push_back(*analyzer.failure());
  }
  static_cast<AnalysisResult &>(report) = conclusion.finish();
  report.kernel.collectors = recorded.manifest.value_or(Manifest{}).kernel;
  report.environment = environmentOf(recorded.manifest.value_or(Manifest{}), analysis.catalog);
  report.damage = recorded.reader.damage();
  append(report.notes, report.failed_analyzers);
  append(report.notes, notesOf(report));
  append(report.notes, recorded.manifest.value_or(Manifest{}).notes);
  append(report.notes, analysis.catalog.notes());
  append(report.notes, analysis.symbolizer.notes());
}

// Stores names and checkpoints in the trace, so that later reports need not compute them again.
Result<void> store(const std::filesystem::path &trace, const RunAnalysis &analysis) {
  const std::vector<ImageNames> found = analysis.symbolizer.found();
  const std::vector<PackedCheckpoint> &checkpoints = analysis.checkpoints->taken();
  if (found.empty() && checkpoints.empty())
    return {};
  auto writer = MSL_TRY(TraceWriter::append(trace));
  for (const ImageNames &names : found)
    MSL_TRY(writer.names(names));
  for (const PackedCheckpoint &checkpoint : checkpoints)
    MSL_TRY(writer.checkpoint(checkpoint));
  return writer.close();
}

// The time when the last process ended: blocks that it did not free are still alive then. If a process has no end, a
// time after all events.
uint64_t endOf(const Recorded &recorded) {
  uint64_t last_ns = 0;
  for (const ProcessStart &start : recorded.reader.processes()) {
    const auto fate = recorded.fates.find(start.process);
    if (fate == recorded.fates.end())
      return UINT64_MAX - 1;
    last_ns = std::max(last_ns, fate->second.time_ns);
  }
  return last_ns;
}

// Reads the run once more to find the peak.
Result<Window> windowAt(const State &state, const Recorded &recorded, const ReportQuestion &question, uint64_t start_ns,
                        const Progress &progress) {
  if (const auto *moment = std::get_if<Moment>(&state.when)) {
    const auto *time_ns = std::get_if<uint64_t>(moment);
    return Window::at(time_ns ? Moment{*time_ns + start_ns} : *moment);
  }
  if (std::holds_alternative<EndMoment>(state.when))
    return Window::at(endOf(recorded));
  ReportQuestion whole = question;
  whole.at.reset();
  return Window::at(MSL_TRY(analyzeRun(recorded.run, whole, progress, {})).peak.time_ns + 1);
}

// A state at one moment has no findings: blocks cannot be late or leaked at once.
void keepState(Report &report, const std::string &name, uint64_t time_ns) {
  report.at = ReportMoment{name, std::min(time_ns, report.start_ns + report.duration_ns)};
  report.findings.clear();
  report.floor.reset();
}

// Stores the memory over time, so that it can be drawn without the events.
// Stores in the run which functions of its drivers msleaks does not know. Later, on another machine, other drivers may
// have the same names.
void keepDriverNotes(Recorded &recorded, const SiteCatalog &catalog) {
  if (!recorded.manifest)
    return;
  std::vector<std::string> &notes = recorded.manifest->notes;
  const size_t before = notes.size();
  for (std::string &note : driverNotesOf(catalog))
    if (std::ranges::find(notes, note) == notes.end())
      notes.push_back(std::move(note));
  if (notes.size() != before)
    std::ignore = recorded.folder.writeManifest(*recorded.manifest); // this report has the note in any case
}

Result<void> keep(const Series &series, const RunFolder &folder) {
  std::ostringstream text;
  writeSeriesJson(text, series);
  auto file = MSL_TRY(OutputFile::create(folder.path() / kSeriesFile, folder.descriptor()));
  MSL_TRY(file.write(text.str()));
  return file.commit();
}

} // namespace

Result<Report> analyzeRun(const std::filesystem::path &run, const ReportQuestion &question, const Progress &progress,
                          Analyzers more, const AfterReport &after) {
  const auto recorded = MSL_TRY(Recorded::open(run));
  Report report = recorded.facts();
  const Window window = question.at ? MSL_TRY(windowAt(*question.at, recorded, question, report.start_ns, progress))
                                    : onClock(question.window, report.start_ns);
  RunAnalysis analysis(window, MSL_TRY(selectionOf(question, recorded.reader)), question.analyzers, std::move(more));
  const uint64_t stored = MSL_TRY(readAll(recorded, window, analysis, progress));
  const Pipeline &pipeline = analysis.pipeline;
  if (!pipeline.hasBegun() || pipeline.waitsForStepOrMark())
    return tl::make_unexpected(
        Error{fmt::format("{}: the run has no such step or mark (msleaks dump RUN --kind step,mark shows them)",
                          question.at ? question.at->name : "the window never begins, or never ends"),
              ExitStatus::Usage});
  conclude(report, recorded, analysis, pipeline.isDone() ? recorded.reader.eventCount() : stored, question, progress);
  if (question.at)
    keepState(report, question.at->name, pipeline.closedAt());
  if (after)
    MSL_TRY(after(report, recorded.reader, analysis));
  return report;
}

Result<Report> analyzeRun(const std::filesystem::path &run, const ReportQuestion &question, const Progress &progress) {
  Analyzers more;
  if (question.wants_pictures)
    more.push_back(makeTurnover());
  return analyzeRun(run, question, progress, std::move(more));
}

Result<Report> analyzeRun(const std::filesystem::path &run, const Progress &progress) {
  return analyzeRun(run, ReportQuestion{}, progress);
}

Result<Report> finishRun(const std::filesystem::path &run, RunningReport *running, const Progress &progress) {
  auto recorded = MSL_TRY(Recorded::open(run));
  RunAnalysis *analysis = running ? running->finish(recorded.reader, progress) : nullptr;
  uint64_t stored = recorded.reader.eventCount();
  std::optional<RunAnalysis> own;
  if (!analysis) {
    analysis = &own.emplace();
    stored = MSL_TRY(readAll(recorded, {}, *analysis, progress));
  }
  keepDriverNotes(recorded, analysis->catalog);
  Report report = recorded.facts();
  ReportQuestion question;
  question.wants_series = true;
  conclude(report, recorded, *analysis, stored, question, progress);
  if (const auto stored = store(recorded.folder.trace(), *analysis); !stored)
    report.notes.push_back("the names of calls are not in the trace, so a report needs the binaries: " +
                           stored.error().message);
  if (const auto kept = keep(*report.series, recorded.folder); !kept)
    report.notes.push_back("the memory over time is not kept with the run: " + kept.error().message);
  return report;
}

Result<void> nameRun(const std::filesystem::path &run, const Progress &progress) {
  auto recorded = MSL_TRY(Recorded::open(run));
  RunAnalysis analysis(Checkpoints::kEvents, History::LeftOut);
  const uint64_t stored = MSL_TRY(readAll(recorded, {}, analysis, progress));
  keepDriverNotes(recorded, analysis.catalog);
  ReportQuestion question;
  question.names_only = true;
  Report report = recorded.facts();
  conclude(report, recorded, analysis, stored, question, progress);
  return store(recorded.folder.trace(), analysis);
}

} // namespace msleaks::analysis::inline report
