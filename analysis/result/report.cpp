#include "analysis/result/report.h"

#include <algorithm>

namespace msleaks::analysis::inline result {
namespace {

bool matchesSite(const Pattern &pattern, const SiteText &site) {
  const auto matchesFrame = [&](const FrameText &frame) {
    return pattern.matches(frame.function) || pattern.matches(frame.file);
  };
  return matchesFrame(site) || pattern.matches(site.library) || pattern.matches(site.type) ||
         pattern.matches(site.variable) || std::any_of(site.inlined_at.begin(), site.inlined_at.end(), matchesFrame);
}

template <class Line> void keepLines(std::vector<Line> &lines, const Pattern &pattern) {
  std::erase_if(lines, [&](const Line &line) {
    return !matchesSite(pattern, line.site) && !pattern.matches(line.allocator.type) &&
           !pattern.matches(line.allocator.variable);
  });
}

bool matchesRow(const Pattern &pattern, const std::vector<Cell> &row) {
  return std::any_of(row.begin(), row.end(), [&](const Cell &cell) {
    const auto *site = std::get_if<std::shared_ptr<const SiteText>>(&cell);
    const auto *text = std::get_if<std::string>(&cell);
    return (site && *site && matchesSite(pattern, **site)) || (text && pattern.matches(*text));
  });
}

bool hasNames(const Section &section) {
  return std::any_of(section.columns.begin(), section.columns.end(),
                     [](const Column &column) { return column.unit == Unit::Place || column.unit == Unit::Text; });
}

} // namespace

bool Report::complete() const { return closed && events.complete() && damage.empty() && unseenProcesses() == 0; }

size_t Report::unseenProcesses() const {
  return static_cast<size_t>(std::count_if(processes.begin(), processes.end(),
                                           [](const ReportProcess &process) { return process.process == 0; }));
}

void keepMatching(Report &report, const Pattern &pattern) {
  keepLines(report.peak.by_site, pattern);
  for (HeapPeak &heap : report.peak.by_heap)
    keepLines(heap.by_site, pattern);
  for (RemainsReport *remains : {&report.leaks, &report.suppressed, &report.alive, &report.unsure}) {
    keepLines(remains->by_site, pattern);
    keepLines(remains->pool_by_site, pattern);
  }
  keepLines(report.handles, pattern);
  keepLines(report.findings, pattern);
  for (Section &section : report.sections)
    if (hasNames(section))
      std::erase_if(section.rows, [&](const std::vector<Cell> &row) { return !matchesRow(pattern, row); });
}

} // namespace msleaks::analysis::inline result
