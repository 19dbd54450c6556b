#include "analysis/exporters/export_run.h"

#include "analysis/base/run_folder.h"
#include "analysis/report/analyze_run.h"
#include "analysis/report/running_report.h"
#include "analysis/report/session_facts.h"
#include "analysis/stream/event_window.h"

#include <algorithm>
#include <fmt/format.h>
#include <ostream>

namespace msleaks::analysis::inline exporters {
namespace {

Result<void> written(const ExportTarget &to) {
  return to.good() ? Result<void>{} : fail("the output could not be written", ExitStatus::OwnFault);
}

void beginWriting(const ExportProgress &progress) {
  if (progress.writing)
    progress.writing();
}

std::vector<std::string> damageOf(const std::filesystem::path &trace, const std::vector<std::string> &parts) {
  std::vector<std::string> damage;
  for (const std::string &what : parts)
    damage.push_back(fmt::format("'{}': {}", trace.string(), what));
  return damage;
}

Result<std::vector<std::string>> exportAll(const std::filesystem::path &run, EventExporter &exporter, std::ostream &out,
                                           const ExportProgress &progress, const Window &window) {
  const auto folder = MSL_TRY(RunFolder::open(run));
  const auto trace = MSL_TRY(TraceReader::open(folder.trace()));
  beginWriting(progress);
  EventChoice choice;
  choice.window = onClock(window, startOf(folder, trace));
  const uint64_t given = MSL_TRY(exportEvents(trace, exporter, out, choice, progress.reading));
  std::vector<std::string> damage = damageOf(folder.trace(), trace.damage());
  if (given == 0 && !damage.empty() && window.hasAll())
    return fail(fmt::format("'{}': nothing could be read", folder.trace().string()));
  return damage;
}

Result<std::vector<std::string>> exportReport(const std::filesystem::path &run, ReportExporter &exporter,
                                              const ExportTarget &to, const ExportProgress &progress,
                                              ReportQuestion question) {
  const auto folder = MSL_TRY(RunFolder::open(run));
  if (question.isPlain() && !to.isFolder() && exporter.writeKept(folder, to.stream())) {
    MSL_TRY(written(to));
    return std::vector<std::string>{};
  }
  exporter.ask(question);
  const Report report = MSL_TRY(analyzeRun(run, question, progress.reading));
  beginWriting(progress);
  to.isFolder() ? exporter.write(report, to.folder()) : exporter.write(report, to.stream());
  MSL_TRY(written(to));
  return exporter.listsDamage() ? std::vector<std::string>{} : damageOf(folder.trace(), report.damage);
}

Result<std::vector<std::string>> exportBlocks(const std::filesystem::path &run, BlockExporter &exporter,
                                              const ExportTarget &to, const ExportProgress &progress) {
  const auto folder = MSL_TRY(RunFolder::open(run));
  exporter.writeTo(to);
  MSL_TRY(exporter.prepare());
  const Report report = MSL_TRY(readBlocks(run, exporter, progress.reading, [&] { beginWriting(progress); }));
  MSL_TRY(written(to));
  return damageOf(folder.trace(), report.damage);
}

auto noBlocks(const Format &format) {
  return fail(fmt::format("{} has no choice of blocks. --of needs a format of paths, for example folded", format.name),
              ExitStatus::Usage);
}

auto noLeaks(const Format &format) {
  return fail(fmt::format("{} has neither leaks nor findings here. --suppressions needs a format that has them, for "
                          "example json",
                          format.name),
              ExitStatus::Usage);
}

auto noWindow(const Format &format) {
  return fail(
      fmt::format("{} is about the whole run. --from and --to need a format of events, for example jsonl", format.name),
      ExitStatus::Usage);
}

Result<void> choose(const Format &format, ReportExporter &exporter, const ReportQuestion &question,
                    std::optional<Blocks> of) {
  if (question.at && !exporter.hasMoments())
    return fail(fmt::format("{} is about the whole run. --at needs another format, for example json", format.name),
                ExitStatus::Usage);
  if (of && !exporter.choose(*of))
    return noBlocks(format);
  if (of && of != Blocks::Peak && question.at)
    return fail("leaks and sums of all allocations are known only at the end of a run. --at needs --of peak",
                ExitStatus::Usage);
  if (!question.suppressions.empty() && !exporter.hasLeaks())
    return noLeaks(format);
  return {};
}

} // namespace

Result<uint64_t> exportEvents(const TraceReader &trace, EventExporter &exporter, std::ostream &out,
                              const EventChoice &choice, const Progress &progress) {
  Symbolizer symbolizer;
  MSL_TRY(trace.forEachNames([&](const ImageNames &names) { symbolizer.add(names); }));
  SiteCatalog catalog(symbolizer);
  MSL_TRY(catalog.load(trace));
  EventExport run{trace, catalog, out, FaultedBlocks(trace)};
  ReadProgress read(progress, trace.eventCount());
  exporter.begin(run);
  EventWindow window(choice.window);
  const uint64_t given = MSL_TRY(trace.forEachEvent(
      [&](const StreamEvent &event) {
        read.onEvent();
        const abi::EventHeader &header = event.event.header();
        run.kernels.onEvent(event, catalog.labels());
        run.blocks.onEvent(event, catalog);
        if (window.has(event, catalog.labels()) && (choice.kinds & kindBit(header.kind)))
          exporter.onEvent(run, event, catalog.find(event.process, header.site));
        return out.good() && !window.isBehind();
      },
      std::max(choice.begin_ns, window.firstNs()), std::min(choice.end_ns, window.endNs())));
  exporter.end(run);
  MSL_TRY(written(out));
  if (window.waitsForStepOrMark())
    return fail("the window never begins, or never ends: the run has no such step or mark (msleaks dump RUN --kind "
                "step,mark shows them)",
                ExitStatus::Usage);
  return given;
}

Result<Blocks> parseBlocks(std::string_view name) {
  if (name == "peak")
    return Blocks::Peak;
  if (name == "leaks")
    return Blocks::Leaks;
  if (name == "allocated")
    return Blocks::Allocated;
  return fail(fmt::format("--of takes peak, leaks or allocated, not '{}'", name), ExitStatus::Usage);
}

Result<std::vector<std::string>> exportRun(const std::filesystem::path &run, const Format &format,
                                           const ExportTarget &to, const ExportProgress &progress,
                                           const ReportQuestion &question, std::optional<Blocks> of) {
  const Exporter exporter = format.make();
  const auto *events = std::get_if<std::unique_ptr<EventExporter>>(&exporter);
  if (!events && !question.window.hasAll())
    return noWindow(format);
  if (const auto *report = std::get_if<std::unique_ptr<ReportExporter>>(&exporter)) {
    MSL_TRY(choose(format, **report, question, of));
    return exportReport(run, **report, to, progress, question);
  }
  if (question.at)
    return fail(fmt::format("{} lists events, so it has no moment. --at needs a format of reports", format.name),
                ExitStatus::Usage);
  if (of)
    return noBlocks(format);
  if (!question.suppressions.empty())
    return noLeaks(format);
  if (const auto *blocks = std::get_if<std::unique_ptr<BlockExporter>>(&exporter))
    return exportBlocks(run, **blocks, to, progress);
  return exportAll(run, **events, to.stream(), progress, question.window);
}

} // namespace msleaks::analysis::inline exporters
