#include "analysis/analyzers/registry.h"
#include "analysis/base/base_name.h"
#include "analysis/report/read_progress.h"
#include "analysis/report/report.h"
#include "analysis/run/run_folder.h"
#include "analysis/stream/pipeline.h"

#include <algorithm>
#include <fmt/format.h>

namespace msleaks::analysis {
namespace {

// Tells the pipeline all events. Returns how many there were.
Result<uint64_t> replay(const TraceReader &reader, const std::map<uint32_t, ProcessFate> &fates, Pipeline &pipeline,
                        const Progress &progress) {
  for (const auto &[process, fate] : fates)
    pipeline.expectEnd(process, fate);
  for (const ProcessStart &start : reader.processes())
    pipeline.setPageBytes(start.process, start.page_bytes);
  ReadProgress read(progress, reader.eventCount());
  const uint64_t events = MSL_TRY(reader.forEachEvent(Reading::Ahead, [&](const StreamEvent &event) {
    pipeline.apply(event);
    if (pipeline.isDone())
      return false;
    read.onEvent();
    return true;
  }));
  pipeline.finish();
  return events;
}

EventAccount accountOf(const TraceReader &reader, uint64_t stored) {
  EventAccount account;
  account.stored = stored;
  uint64_t accounted = 0;
  for (const StreamAccount &stream : reader.streams()) {
    // While a session goes on, and after a kill, the last account of a stream may be older than its last events. Taken
    // per stream: a surplus in one must not hide a loss in another one.
    const uint64_t present = reader.storedEvents(stream.process, stream.stream);
    account.produced += std::max(stream.produced, present + stream.dropped);
    account.dropped += stream.dropped;
    account.stalled_ns += stream.stalled_ns;
    accounted += present;
  }
  account.produced += reader.eventCount() - std::min(accounted, reader.eventCount()); // of streams without an account
  for (const ProcessEnd &end : reader.processEnds()) {
    account.produced += end.dropped_no_ring;
    account.dropped += end.dropped_no_ring;
  }
  account.produced = std::max(account.produced, account.stored + account.dropped);
  account.missing = account.produced - account.stored - account.dropped;
  return account;
}

std::vector<ReportProcess> processesOf(const TraceReader &reader, const std::map<uint32_t, ProcessFate> &fates,
                                       const Manifest &manifest) {
  std::vector<ReportProcess> list;
  for (const ProcessStart &start : reader.processes()) {
    ReportProcess process{start.process, start.pid, start.command, {}, FreeCause::StillAlive};
    if (const auto fate = fates.find(start.process); fate != fates.end()) {
      process.fate = fate->second.cause;
      if (fate->second.exit_status >= 0)
        process.exit = fate->second.exit_status;
    }
    list.push_back(std::move(process));
  }
  for (const RunProcess &known : manifest.processes) {
    const auto same = std::find_if(list.begin(), list.end(), [&](const ReportProcess &process) {
      return known.process != 0 && process.process == known.process;
    });
    if (same == list.end() && known.process == 0)
      list.push_back({0, known.pid, known.command,
                      known.exit_status >= 0 ? std::optional(known.exit_status) : std::nullopt,
                      FreeCause::ProcessExited});
    else if (same != list.end() && !same->exit && known.exit_status >= 0 && same->fate != FreeCause::ProcessExec)
      same->exit = known.exit_status;
  }
  return list;
}

// What a reader of the report must know to trust it, in one line each.
std::vector<std::string> notesOf(const Report &report) {
  std::vector<std::string> notes;
  const auto add = [&](uint64_t count, const char *text) {
    if (count != 0)
      notes.push_back(fmt::format("{} {}", count, text));
  };
  uint64_t killed = 0, going_on = 0, unknown = 0;
  for (const ReportProcess &process : report.processes) {
    killed += process.fate == FreeCause::ProcessKilled;
    going_on += process.fate == FreeCause::StillAlive;
    unknown += process.fate == FreeCause::ProcessExited && !process.exit && process.process != 0;
  }
  if (!report.closed)
    notes.push_back(
        fmt::format("the session was killed or still runs: `msleaks recover {}` adds what is left", report.run));
  add(report.unseenProcesses(),
      "process(es) recorded nothing: static or set-uid programs, or there was no room (notes below)");
  add(killed, "process(es) killed by a signal: their blocks count as alive at the end, not as leaks");
  add(unknown,
      "process(es) ended and nobody saw how: their blocks count as leaks, but are none if a signal killed them");
  add(going_on, "process(es) still running when the session ended, or without an end: their blocks count as alive at "
                "the end, not as leaks");
  add(report.unsure.sum.count + report.unsure.pool_sum.count,
      "block(s) may have been freed while recording was stopped: they are unsure, and count as no leaks");
  add(report.counts.frees_before_start,
      "free(s) of blocks that were not known: allocated before recording started, or while it was stopped");
  add(report.counts.late_frees,
      "free(s) arrived a moment after the reuse of their address, as clocks of processors differ");
  add(report.counts.early_frees,
      "free(s) arrived a moment before their allocation by another thread, as clocks of processors differ");
  add(report.counts.implicit_frees - report.counts.late_frees,
      "block(s) were allocated at the address of a live one, whose free was not seen");
  add(report.counts.unknown_heaps, "event(s) about a kind of memory that this version does not know");
  return notes;
}

void describeSession(Report &report, const Manifest &manifest, const TraceReader &reader) {
  report.state = manifest.state;
  report.closed = reader.closed() && manifest.state != "running";
  report.command = manifest.command;
  report.collector_cpu_ns = manifest.collector_cpu_ns;
  report.start_ns = manifest.start_ns;
  uint64_t first = UINT64_MAX, last = 0;
  for (const ProcessStart &start : reader.processes())
    first = std::min(first, start.time_ns);
  for (const ProcessEnd &end : reader.processEnds())
    last = std::max(last, end.time_ns);
  if (report.start_ns == 0 && first != UINT64_MAX)
    report.start_ns = first;
  const uint64_t end_ns = manifest.end_ns != 0 ? manifest.end_ns : last;
  report.duration_ns = end_ns > report.start_ns ? end_ns - report.start_ns : 0;
}

double rateOf(const Report &report) {
  return report.duration_ns == 0
             ? 0
             : static_cast<double>(report.events.produced) * 1e9 / static_cast<double>(report.duration_ns);
}

void append(std::vector<std::string> &to, const std::vector<std::string> &from) {
  to.insert(to.end(), from.begin(), from.end());
}

} // namespace

bool Report::complete() const { return closed && events.complete() && damage.empty() && unseenProcesses() == 0; }

size_t Report::unseenProcesses() const {
  return static_cast<size_t>(std::count_if(processes.begin(), processes.end(),
                                           [](const ReportProcess &process) { return process.process == 0; }));
}

namespace {

bool isStepOrMark(const std::optional<Moment> &moment) { return moment && !std::holds_alternative<uint64_t>(*moment); }

Window windowOf(const ReportQuestion &question, uint64_t start_ns) {
  Window window = question.window;
  for (std::optional<Moment> *moment : {&window.from, &window.to})
    if (*moment && !isStepOrMark(*moment))
      **moment = std::get<uint64_t>(**moment) + start_ns;
  return window;
}

// A pid or a tid may have been several processes' and threads'.
Result<Selection> selectionOf(const ReportQuestion &question, const TraceReader &reader) {
  Selection selection;
  selection.heap = question.heap;
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
    for (const StreamAccount &stream : reader.streams())
      if (stream.tid == *question.tid)
        selection.threads->insert({stream.process, stream.stream});
    if (selection.threads->empty())
      return missing("thread", *question.tid);
  }
  return selection;
}

// "pid 4711 (train)", "thread 4712 (worker) of pid 4711 (train)".
Names namesOf(const TraceReader &reader, const std::vector<ReportProcess> &processes) {
  const auto process = [&processes](uint32_t number) {
    for (const ReportProcess &known : processes)
      if (known.process == number)
        return fmt::format("pid {} ({})", known.pid, known.command.empty() ? "" : baseName(known.command.front()));
    return std::string();
  };
  const auto thread = [&reader, process](uint32_t number, uint32_t stream) {
    for (const StreamAccount &account : reader.streams())
      if (account.process == number && account.stream == stream)
        return fmt::format("thread {} ({}) of {}", account.tid, account.thread_name, process(number));
    return std::string();
  };
  return {process, thread};
}

std::vector<Analyzer *> pointersTo(const std::vector<std::unique_ptr<Analyzer>> &analyzers) {
  std::vector<Analyzer *> pointers;
  for (const auto &analyzer : analyzers)
    pointers.push_back(analyzer.get());
  return pointers;
}

Result<Report> analyze(const std::filesystem::path &run, const TraceReader &reader, const RunFolder &folder,
                       Symbolizer &symbolizer, const ReportQuestion &question, const Progress &progress) {
  Report report;
  report.run = run.string();
  auto manifest = folder.readManifest();
  if (!manifest)
    report.notes.push_back("no manifest, so no command and no cost: " + manifest.error().message);

  if (progress)
    symbolizer.onLookUp([&](uint64_t names) { progress(fmt::format("naming calls, {} so far", names)); });
  MSL_TRY(reader.forEachNames([&](const ImageNames &names) { symbolizer.add(names); }));
  SiteCatalog catalog(symbolizer);
  MSL_TRY(catalog.load(reader));
  const auto fates = fatesOf(reader);
  const auto analyzers = makeAnalyzers();
  report.processes = processesOf(reader, fates, manifest.value_or(Manifest{}));
  describeSession(report, manifest.value_or(Manifest{}), reader);
  Pipeline pipeline(catalog, pointersTo(analyzers), windowOf(question, report.start_ns),
                    MSL_TRY(selectionOf(question, reader)));
  const uint64_t stored = MSL_TRY(replay(reader, fates, pipeline, progress));
  if (!pipeline.hasBegun() || (isStepOrMark(question.window.to) && !pipeline.isDone()))
    return tl::make_unexpected(Error{"the window never begins, or never ends: the run has no such step or mark "
                                     "(msleaks dump RUN --kind step,mark shows them)",
                                     ExitStatus::Usage});

  report.events = accountOf(reader, pipeline.isDone() ? reader.eventCount() : stored);
  report.counts = pipeline.liveSet().counts();
  report.events_per_s = rateOf(report);
  const Names names = namesOf(reader, report.processes);
  Conclusion conclusion(catalog, pipeline.liveSet().cohorts(), pipeline.history(), report.processes, question, names);
  for (const auto &analyzer : analyzers)
    analyzer->conclude(conclusion);
  static_cast<AnalysisResult &>(report) = conclusion.finish();
  report.damage = reader.damage();
  append(report.notes, notesOf(report));
  append(report.notes, manifest.value_or(Manifest{}).notes);
  append(report.notes, catalog.notes());
  append(report.notes, symbolizer.notes());
  return report;
}

Result<void> storeNames(const std::filesystem::path &trace, const std::vector<ImageNames> &found) {
  if (found.empty())
    return {};
  auto writer = MSL_TRY(TraceWriter::append(trace));
  for (const ImageNames &names : found)
    MSL_TRY(writer.names(names));
  return writer.close();
}

} // namespace

Result<Report> analyzeRun(const std::filesystem::path &run, const ReportQuestion &question, const Progress &progress) {
  auto folder = MSL_TRY(RunFolder::open(run));
  auto reader = MSL_TRY(TraceReader::open(folder.trace()));
  Symbolizer symbolizer;
  return analyze(run, reader, folder, symbolizer, question, progress);
}

Result<Report> analyzeRun(const std::filesystem::path &run, const Progress &progress) {
  return analyzeRun(run, ReportQuestion{}, progress);
}

Result<Report> finishRun(const std::filesystem::path &run, const Progress &progress) {
  auto folder = MSL_TRY(RunFolder::open(run));
  auto reader = MSL_TRY(TraceReader::open(folder.trace()));
  Symbolizer symbolizer;
  auto report = MSL_TRY(analyze(run, reader, folder, symbolizer, {}, progress));
  if (const auto stored = storeNames(folder.trace(), symbolizer.found()); !stored)
    report.notes.push_back("the names of calls are not in the trace, so a report needs the binaries: " +
                           stored.error().message);
  return report;
}

} // namespace msleaks::analysis
