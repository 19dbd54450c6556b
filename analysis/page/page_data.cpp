#include "analysis/page/page_data.h"

#include "analysis/base/session_time.h"
#include "analysis/page/flame_tree.h"
#include "analysis/page/page_tables.h"
#include "analysis/page/pictures_data.h"
#include "analysis/places/source_excerpts.h"
#include "analysis/result/writer.h"
#include "analysis/text/finding_lines.h"
#include "analysis/text/finding_title.h"

#include <fmt/ranges.h>
#include <sstream>
#include <vector>

namespace msleaks::analysis::inline page {
namespace {

constexpr size_t kMostFindings = 200;
constexpr size_t kFindingColumns = 120; // of a finding's lines

std::string joined(const std::vector<std::string> &lines) { return fmt::format("{}", fmt::join(lines, "\n")); }

Json framesOf(const Finding &finding, FrameTable &frames) {
  std::vector<uint32_t> numbers;
  if (!finding.paths.empty())
    for (const auto &call : finding.paths.front().calls)
      frames.numbersOf(*call, numbers);
  Json shown = Json::array();
  for (const uint32_t number : numbers)
    shown.push_back(frames.shownNumber(number));
  return shown;
}

Json jsonOfFinding(const Finding &finding, size_t number, const Report &report, FrameTable &frames) {
  const FindingLines lines = linesOf({number, &finding, {}}, kFindingColumns);
  return {{"id", finding.id},
          {"number", number},
          {"kind", finding.kind},
          {"confidence", nameOf(finding.confidence)},
          {"title", titleOf(finding)},
          {"where", joined(lines.where)},
          {"file", finding.site.file.empty() ? Json() : Json(finding.site.file)},
          {"line", finding.site.line == 0 ? Json() : Json(finding.site.line)},
          {"owner", finding.owner},
          {"saving", savingOf(finding)},
          {"saves_bytes", finding.saves_bytes},
          {"holders", joined(lines.holders)},
          {"advice", finding.advice},
          {"evidence", jsonOf(finding.evidence, report)},
          {"frames", framesOf(finding, frames)}};
}

Json findingsOf(const Report &report, FrameTable &frames) {
  Json findings = Json::array();
  for (const Finding &finding : report.findings) {
    if (findings.size() == kMostFindings)
      break;
    findings.push_back(jsonOfFinding(finding, findings.size() + 1, report, frames));
  }
  return findings;
}

template <class Lines> Json flameOf(const Lines &lines, FrameTable &frames) {
  FlameTree tree(frames);
  for (const SiteLine &line : lines)
    tree.add(line);
  return tree.json();
}

Json ownersOf(const Report &report) {
  Json owners = Json::array();
  for (const NamedLine &owner : report.peak.by_owner)
    owners.push_back({{"name", owner.name}, {"bytes", owner.bytes}, {"count", owner.count}});
  return owners;
}

Json sourcesOf(const Report &report, std::optional<std::filesystem::file_time_type> since) {
  LinesByFile wanted;
  for (size_t i = 0; i < report.findings.size() && i < kMostFindings; ++i)
    if (const SiteText &site = report.findings[i].site; !site.file.empty() && site.line != 0)
      wanted[site.file].insert(site.line);
  return excerptsJson(wanted, since);
}

Json seriesOf(const Report &report) {
  if (!report.series)
    return nullptr;
  std::ostringstream text;
  writeSeriesJson(text, *report.series);
  return Json::parse(text.str());
}

Json keptOf(const Report &report) {
  return {{"bytes", report.leaks.sum.bytes - std::min(report.leaks.sum.bytes, report.found_leaks.sum.bytes)},
          {"count", report.leaks.sum.count - std::min(report.leaks.sum.count, report.found_leaks.sum.count)}};
}

} // namespace

Json pageData(const Report &report, std::optional<std::filesystem::file_time_type> since) {
  FrameTable frames;
  Json findings = findingsOf(report, frames);
  Json flames{{"peak", flameOf(report.peak.by_site, frames)},
              {"leaks", flameOf(report.leaks.by_site, frames)},
              {"allocated", flameOf(report.allocated, frames)}};
  return {{"run", report.run},
          {"command", report.command},
          {"at", report.at ? Json(report.at->name) : Json()},
          {"duration_ns", report.duration_ns},
          {"complete", report.complete()},
          {"events",
           {{"stored", report.events.stored}, {"dropped", report.events.dropped}, {"missing", report.events.missing}}},
          {"peak",
           {{"bytes", report.peak.bytes},
            {"since_start_ns", sinceStart(report.at ? report.at->time_ns : report.peak.time_ns, report.start_ns)},
            {"resident_bytes", report.peak.resident_bytes ? Json(*report.peak.resident_bytes) : Json()}}},
          {"floor_bytes", report.floor ? Json(report.floor->bytes) : Json()},
          {"leaks", {{"bytes", report.found_leaks.sum.bytes}, {"count", report.found_leaks.sum.count}}},
          {"kept_by_libraries", keptOf(report)},
          {"findings", std::move(findings)},
          {"findings_in_all", report.findings.size()},
          {"flames", std::move(flames)},
          {"frames", frames.frames()},
          {"owners", ownersOf(report)},
          {"series", seriesOf(report)},
          {"turnover", report.pictures ? turnoverData(report.pictures->turnover) : Json()},
          {"pools", report.pictures ? poolsData(report.pictures->pools) : Json()},
          {"tables", tablesOf(report)},
          {"sources", sourcesOf(report, since)},
          {"notes", report.notes}};
}

} // namespace msleaks::analysis::inline page
