#include "analysis/check/figures.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <tuple>

namespace msleaks::analysis {
namespace {

size_t countOf(const Report &report, FreeCause fate) {
  return static_cast<size_t>(std::count_if(report.processes.begin(), report.processes.end(),
                                           [&](const ReportProcess &process) { return process.fate == fate; }));
}

// Each of these may hide a leak or a part of the peak.
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

// What is not the user's own is one place an image: its lines and offsets change with every update of the system.
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

} // namespace msleaks::analysis
