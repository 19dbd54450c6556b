#include "analysis/compare/figures.h"

#include "analysis/base/files.h"
#include "analysis/report/analyze_run.h"
#include "analysis/report/question.h"
#include "analysis/trace/format.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <tuple>

namespace msleaks::analysis::inline compare {
namespace {

size_t countOf(const Report &report, FreeCause fate) {
  return static_cast<size_t>(std::count_if(report.processes.begin(), report.processes.end(),
                                           [&](const ReportProcess &process) { return process.fate == fate; }));
}

// Returns what is missing in the recording. Each gap may hide a leak or a part of the peak.
std::vector<std::string> gapsOf(const Report &report) {
  std::vector<std::string> gaps;
  const auto add = [&](uint64_t count, const char *one, const char *many) {
    if (count != 0)
      gaps.push_back(fmt::format("{} {}", count, count == 1 ? one : many));
  };
  if (!report.closed)
    gaps.emplace_back("the session was killed or still runs");
  if (report.processes.empty())
    gaps.emplace_back("no process was recorded");
  add(report.events.dropped, "event was dropped", "events were dropped");
  add(report.events.missing, "event is missing", "events are missing");
  add(report.damage.size(), "part of the trace is damaged", "parts of the trace are damaged");
  add(report.unseenProcesses(), "process recorded nothing", "processes recorded nothing");
  add(countOf(report, FreeCause::ProcessKilled), "process was killed by a signal", "processes were killed by a signal");
  add(countOf(report, FreeCause::StillAlive), "process was still running at the end",
      "processes were still running at the end");
  add(report.unsure.sum.count + report.unsure.pool_sum.count, "block may have been freed while recording was stopped",
      "blocks may have been freed while recording was stopped");
  return gaps;
}

// Collects places. All places of an image that is not the user's own become one place. Their lines and offsets change
// with every update of the system.
class PlaceList {
public:
  void add(PlaceFigures place) {
    if (!place.own) {
      const auto [at, fresh] = images_.emplace(std::tuple(place.library, place.heap, place.child), places_.size());
      if (!fresh) {
        places_[at->second].bytes += place.bytes;
        places_[at->second].count += place.count;
        return;
      }
    }
    places_.push_back(std::move(place));
  }
  std::vector<PlaceFigures> take() { return std::move(places_); }

private:
  std::vector<PlaceFigures> places_;
  std::map<std::tuple<std::string, std::string, std::string>, size_t> images_;
};

} // namespace

RunFigures figuresOf(const Report &report) {
  RunFigures figures;
  figures.command = report.command;
  if (!report.processes.empty()) {
    if (figures.command.empty())
      figures.command = report.processes.front().command;
    figures.exit = report.processes.front().exit;
  }
  figures.gaps = gapsOf(report);
  PlaceList peak, leaks;
  for (const SiteLine &line : report.peak.by_site)
    peak.add(figuresOf(line, ""));
  for (const auto *lines : {&report.leaks.by_site, &report.leaks.pool_by_site})
    for (const LeakLine &line : *lines)
      leaks.add(figuresOf(line, abi::nameOf(line.remains.heap)));
  figures.peak = {report.peak.bytes, peak.take()};
  figures.leaks = {report.leaks.sum.bytes, report.leaks.sum.count, report.leaks.pool_sum.bytes,
                   report.leaks.pool_sum.count, leaks.take()};
  return figures;
}

// The following functions name each field of the file once, for reading and writing (docs/check.md).
template <class Visitor, IsOrConst<PeakFigures> Peak> static void visitFields(Visitor &&visit, Peak &peak) {
  visit("bytes", peak.bytes);
  visit("places", peak.places);
}

template <class Visitor, IsOrConst<LeakFigures> Leaks> static void visitFields(Visitor &&visit, Leaks &leaks) {
  visit("bytes", leaks.bytes);
  visit("count", leaks.count);
  visit("pool_bytes", leaks.pool_bytes);
  visit("pool_count", leaks.pool_count);
  visit("places", leaks.places);
}

template <class Visitor, IsOrConst<RunFigures> Figures> static void visitFields(Visitor &&visit, Figures &figures) {
  visit("command", figures.command);
  visit("exit", figures.exit);
  visit("gaps", figures.gaps);
  visit("peak", figures.peak);
  visit("leaks", figures.leaks);
}

namespace {

constexpr const char kFormat[] = "msleaks check";

// Tells the file from all other files.
struct Head {
  std::string format;
  uint32_t version = 0;
};

} // namespace

template <class Visitor, IsOrConst<Head> H> static void visitFields(Visitor &&visit, H &head) {
  visit("format", head.format);
  visit("version", head.version);
}

std::string formatFigures(const RunFigures &figures) {
  OrderedJson json = toJson(Head{kFormat, kFiguresVersion});
  json.update(toJson(figures));
  return json.dump(1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

bool isFigures(std::string_view text) {
  constexpr size_t kHead = 100;
  return text.substr(0, kHead).find(fmt::format("\"{}\"", kFormat)) != std::string_view::npos;
}

Result<RunFigures> parseFigures(std::string_view text, const std::string &where) {
  const OrderedJson json = OrderedJson::parse(text.begin(), text.end(), nullptr, false);
  Head head;
  std::string wrong;
  if (json.is_object())
    visitFields(FieldReader(json, "", wrong), head);
  if (head.format != kFormat || head.version == 0)
    return fail(
        fmt::format("'{}' is neither a run nor a file that msleaks check --save wrote, or it is damaged", where));
  if (head.version > kFiguresVersion)
    return fail(fmt::format("'{}' was written by a newer msleaks (version {}, this one reads up to {}): use that "
                            "version or a later one",
                            where, head.version, kFiguresVersion));
  RunFigures figures;
  for (const char *part : {"peak", "leaks"})
    if (!json.contains(part))
      return fail(fmt::format("'{}': {} is missing: save it again", where, part));
  visitFields(FieldReader(json, "", wrong), figures);
  if (!wrong.empty())
    return fail(fmt::format("'{}': {} does not have the type of its field: save it again", where, wrong));
  return figures;
}

namespace {

constexpr uint64_t kMostBytes = 1u << 30;

// Takes every file that does not begin as a trace for a saved file. The reader of saved files says what is wrong.
bool isSaved(const InputFile &file) {
  uint64_t magic = 0;
  const auto read = file.read(0, std::span(reinterpret_cast<uint8_t *>(&magic), sizeof magic));
  return read && magic != kFileMagic;
}

} // namespace

Result<RunFigures> readBaseline(const std::filesystem::path &baseline, const ReportQuestion &question,
                                const Progress &progress) {
  std::error_code error;
  if (std::filesystem::is_regular_file(baseline, error)) {
    const auto file = MSL_TRY(InputFile::open(baseline));
    if (isSaved(file)) {
      if (file.size() > kMostBytes)
        return fail(fmt::format("'{}' has {} bytes: no file of msleaks check is that long", file.name(), file.size()));
      std::string text(file.size(), '\0');
      MSL_TRY(file.readAll(0, {reinterpret_cast<uint8_t *>(text.data()), text.size()}));
      const bool may_be_result = isResultFile(baseline) && text.find("\"session\"") != std::string::npos;
      if (isFigures(text) || !may_be_result)
        return parseFigures(text, file.name());
      return figuresOf(MSL_TRY(readReportJson(baseline)));
    }
  }
  return figuresOf(MSL_TRY(analyzeRun(baseline, question, progress)));
}

} // namespace msleaks::analysis::inline compare
