#include "analysis/report/report.h"

#include "report_json.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace msleaks::analysis {
namespace {

const char *nameOf(FreeCause fate) {
  switch (fate) {
  case FreeCause::ProcessKilled:
    return "killed";
  case FreeCause::ProcessExec:
    return "replaced";
  case FreeCause::StillAlive:
    return "running";
  default:
    return "exited";
  }
}

// Of a moment in the trace, since the session began.
uint64_t sinceStart(const Report &report, uint64_t time_ns) {
  return time_ns > report.start_ns ? time_ns - report.start_ns : 0;
}

Json textOrNull(const std::string &text) { return text.empty() ? Json() : Json(text); }

Json jsonOf(const AllocatorText &allocator) {
  return {{"callee", textOrNull(allocator.callee)},
          {"type", textOrNull(allocator.type)},
          {"variable", textOrNull(allocator.variable)}};
}

Json jsonOf(const std::vector<PathLine> &paths) {
  Json list = Json::array();
  for (const PathLine &path : paths) {
    Json frames = Json::array();
    for (const auto &call : path.calls)
      appendFrames(*call, frames);
    list.push_back(
        {{"bytes", path.bytes}, {"count", path.count}, {"complete", path.complete}, {"frames", std::move(frames)}});
  }
  return list;
}

Json withPaths(Json json, const SiteLine &line) {
  json["allocator"] = jsonOf(line.allocator);
  json["paths"] = jsonOf(line.paths);
  json["more_paths"] = line.more_paths;
  json["child"] = textOrNull(line.child);
  return json;
}

Json lineOf(const SiteLine &line) {
  return {{"site", jsonOf(line.site)}, {"bytes", line.bytes}, {"count", line.count}};
}

Json jsonOf(const std::vector<SiteLine> &lines) {
  Json list = Json::array();
  for (const SiteLine &line : lines)
    list.push_back(withPaths(lineOf(line), line));
  return list;
}

Json orNull(const std::optional<uint64_t> &number) { return number ? Json(*number) : Json(); }

// The same lines are in another list with their paths.
Json withoutPaths(const std::vector<SiteLine> &lines) {
  Json list = Json::array();
  for (const SiteLine &line : lines)
    list.push_back(lineOf(line));
  return list;
}

Json jsonOf(const std::vector<NamedLine> &lines, const char *key) {
  Json list = Json::array();
  for (const NamedLine &line : lines)
    list.push_back({{key, line.name.empty() ? Json() : Json(line.name)}, {"bytes", line.bytes}, {"count", line.count}});
  return list;
}

Json jsonOf(const std::vector<LeakLine> &lines) {
  Json list = Json::array();
  for (const LeakLine &line : lines) {
    Json json = {{"site", jsonOf(line.site)},
                 {"bytes", line.remains.bytes},
                 {"count", line.remains.count},
                 {"heap", abi::nameOf(line.remains.heap)},
                 {"largest_bytes", line.remains.largest_bytes},
                 {"oldest_age_ns", line.remains.oldest_age_ns},
                 {"newest_age_ns", line.remains.newest_age_ns}};
    if (!line.reason.empty())
      json["reason"] = line.reason;
    list.push_back(withPaths(std::move(json), line));
  }
  return list;
}

Json jsonOf(const std::vector<HandleLine> &lines) {
  Json list = Json::array();
  for (const HandleLine &line : lines)
    list.push_back(
        withPaths({{"kind", abi::nameOf(line.kind)}, {"count", line.count}, {"site", jsonOf(line.site)}}, line));
  return list;
}

Json byHeap(const RemainsReport &remains) {
  std::map<abi::Heap, BlockSum> sums;
  for (const auto *lines : {&remains.by_site, &remains.pool_by_site})
    for (const LeakLine &line : *lines)
      sums[line.remains.heap] += {line.remains.bytes, line.remains.count};
  Json list = Json::array();
  for (const auto &[heap, sum] : sums)
    list.push_back({{"heap", abi::nameOf(heap)}, {"bytes", sum.bytes}, {"count", sum.count}});
  return list;
}

Json jsonOf(const RemainsReport &remains) {
  return {{"bytes", remains.sum.bytes},
          {"count", remains.sum.count},
          {"by_site", jsonOf(remains.by_site)},
          {"by_heap", byHeap(remains)},
          {"pool",
           {{"bytes", remains.pool_sum.bytes},
            {"count", remains.pool_sum.count},
            {"by_site", jsonOf(remains.pool_by_site)}}}};
}

Json jsonOf(const FoundLeaks &found) {
  return {{"bytes", found.sum.bytes},
          {"count", found.sum.count},
          {"places", found.places},
          {"pool", {{"bytes", found.pool_sum.bytes}, {"count", found.pool_sum.count}}}};
}

Json jsonOf(const Report &report, const PeakReport &peak) {
  Json heaps = Json::array(), processes = Json::array();
  for (const HeapPeak &heap : peak.by_heap)
    heaps.push_back({{"heap", abi::nameOf(heap.heap)},
                     {"bytes", heap.bytes},
                     {"time_ns", heap.time_ns},
                     {"since_start_ns", sinceStart(report, heap.time_ns)},
                     {"by_site", withoutPaths(heap.by_site)}});
  for (const ProcessPeak &process : peak.by_process) {
    const auto of = std::find_if(report.processes.begin(), report.processes.end(),
                                 [&](const ReportProcess &candidate) { return candidate.process == process.process; });
    processes.push_back({{"pid", of == report.processes.end() ? Json() : Json(of->pid)},
                         {"bytes", process.bytes},
                         {"time_ns", process.time_ns},
                         {"since_start_ns", sinceStart(report, process.time_ns)},
                         {"resident_bytes", orNull(process.resident_bytes)},
                         {"highest_resident_bytes", orNull(process.highest_resident_bytes)}});
  }
  return {{"bytes", peak.bytes},
          {"time_ns", peak.time_ns},
          {"since_start_ns", sinceStart(report, peak.time_ns)},
          {"resident_bytes", orNull(peak.resident_bytes)},
          {"by_site", jsonOf(peak.by_site)},
          {"by_type", jsonOf(peak.by_type, "type")},
          {"by_owner", jsonOf(peak.by_owner, "owner")},
          {"by_heap", std::move(heaps)},
          {"by_process", std::move(processes)}};
}

Json jsonOf(const std::optional<Floor> &floor) {
  if (!floor)
    return nullptr;
  Json heaps = Json::array();
  for (const abi::Heap heap : floor->heaps)
    heaps.push_back(abi::nameOf(heap));
  return {{"bytes", floor->bytes},
          {"heaps", std::move(heaps)},
          {"largest_launch_bytes", floor->largest_launch_bytes},
          {"largest_launch", floor->largest_launch}};
}

Json jsonOf(const Ledger &ledger) {
  Json list = Json::array();
  for (const LedgerLine &line : ledger)
    list.push_back({{"device", line.device ? Json(*line.device) : Json()},
                    {"source", analysis::nameOf(line.source)},
                    {"bytes", line.bytes},
                    {"at_peak_bytes", line.at_peak_bytes}});
  return list;
}

Json evidenceOf(const Evidence &evidence) {
  Json json = Json::object();
  for (const auto &[name, value] : evidence)
    std::visit([&, &key = name](const auto &known) { json[key] = known; }, value);
  return json;
}

Json jsonOf(const std::vector<Finding> &findings) {
  Json list = Json::array();
  for (const Finding &finding : findings)
    list.push_back(withPaths({{"id", finding.id},
                              {"kind", finding.kind},
                              {"confidence", nameOf(finding.confidence)},
                              {"bytes", finding.bytes},
                              {"count", finding.count},
                              {"heap", abi::nameOf(finding.heap)},
                              {"device", finding.device},
                              {"saves_bytes", finding.saves_bytes},
                              {"saves_cumulative_bytes", finding.saves_cumulative_bytes},
                              {"saves_ns", finding.saves_ns},
                              {"byte_seconds", finding.byte_seconds},
                              {"site", jsonOf(finding.site)},
                              {"owner", textOrNull(finding.owner)},
                              {"closed_library", textOrNull(finding.closed_library)},
                              {"evidence", evidenceOf(finding.evidence)},
                              {"advice", finding.advice},
                              {"retracted", finding.retracted}},
                             finding));
  return list;
}

Json jsonOf(const std::vector<Cell> &cells) {
  Json row = Json::array();
  for (const Cell &cell : cells)
    row.push_back(std::visit(
        []<class T>(const T &value) -> Json {
          if constexpr (std::is_same_v<T, std::monostate>)
            return nullptr;
          else if constexpr (std::is_same_v<T, std::shared_ptr<const SiteText>>)
            return jsonOf(*value);
          else
            return value;
        },
        cell));
  return row;
}

Json jsonOf(const std::vector<Section> &sections) {
  Json list = Json::array();
  for (const Section &section : sections) {
    Json columns = Json::array(), rows = Json::array();
    for (const Column &column : section.columns)
      columns.push_back({{"name", column.name}, {"unit", nameOf(column.unit)}});
    for (const std::vector<Cell> &row : section.rows)
      rows.push_back(jsonOf(row));
    list.push_back({{"name", section.name},
                    {"title", section.title},
                    {"columns", std::move(columns)},
                    {"rows", std::move(rows)},
                    {"totals", jsonOf(section.totals())}});
  }
  return list;
}

Json jsonOf(const Report &report, const std::vector<WatchLine> &watch) {
  Json list = Json::array();
  for (const WatchLine &line : watch)
    list.push_back({{"name", line.name},
                    {"operator", line.operation ? Json(*line.operation) : Json()},
                    {"site", jsonOf(line.site)},
                    {"offset", line.offset},
                    {"bytes", line.bytes},
                    {"step", orNull(line.step)},
                    {"given", nameOf(line.given)},
                    {"block", line.address},
                    {"time_ns", line.time_ns},
                    {"since_start_ns", sinceStart(report, line.time_ns)},
                    {"digest", line.digest != 0 ? Json(fmt::format("xxh3_64:{:x}", line.digest)) : Json()},
                    {"file", line.file != 0 ? Json(fmt::format("watch/{}.safetensors", line.file)) : Json()}});
  return list;
}

Json processesOf(const Report &report) {
  Json list = Json::array();
  for (const ReportProcess &process : report.processes)
    list.push_back({{"pid", process.pid},
                    {"command", process.command},
                    {"exit", process.exit ? Json(*process.exit) : Json()},
                    {"fate", nameOf(process.fate)}});
  return list;
}

Json sessionOf(const Report &report) {
  return {{"state", report.state.empty() ? Json() : Json(report.state)},
          {"command", report.command},
          {"start_ns", report.start_ns},
          {"duration_ns", report.duration_ns},
          {"complete", report.complete()}};
}

Json eventsOf(const Report &report) {
  return {{"produced", report.events.produced},
          {"stored", report.events.stored},
          {"dropped", report.events.dropped},
          {"stalled_ns", report.events.stalled_ns},
          {"missing", report.events.missing}};
}

Json countsOf(const LiveSetCounts &counts) {
  return {{"allocs", counts.allocs},
          {"frees", counts.frees},
          {"failed_allocs", counts.failed_allocs},
          {"unmatched_frees", counts.unmatched_frees},
          {"frees_before_start", counts.frees_before_start},
          {"freed_unseen", counts.freed_unseen},
          {"unmatched_retargets", counts.unmatched_retargets},
          {"implicit_frees", counts.implicit_frees},
          {"late_frees", counts.late_frees},
          {"early_frees", counts.early_frees},
          {"unknown_heaps", counts.unknown_heaps}};
}

} // namespace

Json findingsJson(const std::vector<Finding> &findings) { return jsonOf(findings); }
Json remainsJson(const RemainsReport &remains) { return jsonOf(remains); }
Json placesJson(const std::vector<SiteLine> &lines) { return jsonOf(lines); }
Json processesJson(const Report &report) { return processesOf(report); }

void writeReportJson(std::ostream &to, const Report &report) {
  Json leaks = jsonOf(report.leaks);
  leaks["found"] = jsonOf(report.found_leaks);
  leaks["suppressed"] = jsonOf(report.suppressed);
  const Json json = {{"session", sessionOf(report)},
                     {"events", eventsOf(report)},
                     {"cost", {{"collector_cpu_ns", report.collector_cpu_ns}, {"events_per_s", report.events_per_s}}},
                     {"processes", processesOf(report)},
                     {"findings", jsonOf(report.findings)},
                     {"peak", jsonOf(report, report.peak)},
                     {"floor", jsonOf(report.floor)},
                     {"ledger", jsonOf(report.ledger)},
                     {"leaks", std::move(leaks)},
                     {"alive_at_end", jsonOf(report.alive)},
                     {"unsure", jsonOf(report.unsure)},
                     {"handles", jsonOf(report.handles)},
                     {"watch", jsonOf(report, report.watch)},
                     {"sections", jsonOf(report.sections)},
                     {"blocks", countsOf(report.counts)},
                     {"damage", report.damage},
                     {"notes", report.notes}};
  write(to, json, 2);
  to << '\n';
}

} // namespace msleaks::analysis
