#include "lines.h"

#include "suppressions.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace msleaks::analysis {
namespace {

auto orderOf(const SiteText &site) {
  return std::tie(site.file, site.line, site.column, site.library, site.offset, site.id);
}

// Most bytes first, then by place.
template <class Line, class Bytes> void sortLines(std::vector<Line> &lines, Bytes &&bytesOf) {
  std::sort(lines.begin(), lines.end(), [&](const Line &left, const Line &right) {
    const uint64_t a = bytesOf(left), b = bytesOf(right);
    return a != b ? a > b : orderOf(left.site) < orderOf(right.site);
  });
}

void sortLeaks(std::vector<LeakLine> &lines) {
  sortLines(lines, [](const LeakLine &line) { return line.remains.bytes; });
}

void sortLists(RemainsReport &remains) {
  sortLeaks(remains.by_site);
  sortLeaks(remains.pool_by_site);
}

} // namespace

std::vector<SiteLine> Lines::sitesOf(const Peak &peak) {
  std::vector<SiteLine> lines;
  for (const SiteShare &share : peak.by_site)
    lines.push_back({textOf(catalog_.describe(share.site)), share.bytes, share.count});
  sortLines(lines, [](const SiteLine &line) { return line.bytes; });
  return lines;
}

std::vector<NamedLine> Lines::groupsOf(const Peak &peak, std::string_view Site::*name) {
  std::map<std::string_view, BlockSum> sums;
  for (const SiteShare &share : peak.by_site)
    sums[catalog_.describe(share.site).*name] += {share.bytes, share.count};
  std::vector<NamedLine> lines;
  for (const auto &[text, sum] : sums)
    lines.push_back({std::string(text), sum.bytes, sum.count});
  std::sort(lines.begin(), lines.end(),
            [](const auto &a, const auto &b) { return a.bytes != b.bytes ? a.bytes > b.bytes : a.name < b.name; });
  return lines;
}

PeakReport Lines::peak(const PeakResult &result) {
  PeakReport report;
  report.bytes = result.total.bytes;
  report.time_ns = result.total.time_ns;
  report.by_site = sitesOf(result.total);
  report.by_type = groupsOf(result.total, &Site::type);
  report.by_owner = groupsOf(result.total, &Site::library);
  for (size_t heap = 0; heap < result.by_heap.size(); ++heap)
    if (const Peak &peak = result.by_heap[heap]; peak.bytes != 0)
      report.by_heap.push_back({static_cast<abi::Heap>(heap), peak.bytes, peak.time_ns, sitesOf(peak)});
  report.by_process = result.by_process;
  return report;
}

void Lines::add(const SiteRemains &remains, const char *reason, RemainsReport &report) {
  const bool physical = abi::isPhysical(remains.heap);
  (physical ? report.sum : report.pool_sum) += {remains.bytes, remains.count};
  (physical ? report.by_site : report.pool_by_site)
      .push_back({textOf(catalog_.describe(remains.site)), remains, reason ? reason : ""});
}

void Lines::remains(const LeakResult &result, Report &report) {
  for (const SiteRemains &remains : result.leaked) {
    const char *reason = suppressionOf(catalog_.describe(remains.site), remains, report.processes.size());
    add(remains, reason, reason ? report.suppressed : report.leaks);
  }
  for (const SiteRemains &remains : result.alive)
    add(remains, nullptr, report.alive);
  for (const SiteRemains &remains : result.unsure)
    add(remains, nullptr, report.unsure);
  sortLists(report.leaks);
  sortLists(report.suppressed);
  sortLists(report.alive);
  sortLists(report.unsure);
}

} // namespace msleaks::analysis
