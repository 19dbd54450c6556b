#include "analysis/text/out_of_memory_forms.h"
#include "analysis/base/session_time.h"
#include "analysis/base/text.h"
#include "analysis/report/out_of_memory.h"
#include "analysis/result/writer.h"
#include "analysis/text/callers.h"
#include "analysis/text/parts.h"
#include "analysis/text/report_text.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <memory>

namespace msleaks::analysis::inline text {
namespace {

Json jsonOf(const RefusedCall &call, const Report &report) {
  return {{"bytes", call.bytes},
          {"status", call.status},
          {"heap", abi::nameOf(call.heap)},
          {"device", call.device},
          {"time_ns", call.time_ns},
          {"since_start_ns", sinceStart(call.time_ns, report.start_ns)},
          {"pid", call.pid},
          {"tid", call.tid},
          {"place", call.place.empty() ? Json() : placesJson(call.place).front()}};
}

Json jsonOf(const std::vector<AliveBlock> &blocks) {
  Json list = Json::array();
  for (const AliveBlock &block : blocks)
    list.push_back({{"bytes", block.bytes},
                    {"age_ns", block.age_ns},
                    {"heap", abi::nameOf(block.heap)},
                    {"device", block.device},
                    {"pid", block.pid},
                    {"site", jsonOf(block.place)}});
  return list;
}

Json jsonOf(const std::optional<Hole> &hole) {
  if (!hole)
    return nullptr;
  return {{"bytes", hole->bytes ? Json(*hole->bytes) : Json()},
          {"unknown", hole->unknown.empty() ? Json() : Json(hole->unknown)}};
}

} // namespace

void writeOutOfMemoryJson(std::ostream &to, const OutOfMemory &found) {
  const Json json = {{"refused", found.refused ? jsonOf(*found.refused, found.report) : Json()},
                     {"refusals", {{"count", found.refusals}, {"answered", found.answered}}},
                     {"alive", remainsJson(found.report.alive)},
                     {"largest", jsonOf(found.largest)},
                     {"oldest", jsonOf(found.oldest)},
                     {"hole", jsonOf(found.hole)},
                     {"findings", findingsJson(savingFindings(found.report))},
                     {"processes", processesJson(found.report)},
                     {"damage", found.report.damage}};
  write(to, json, 2);
  to << '\n';
}

namespace {

std::string processText(const Report &report, uint32_t pid) {
  for (const ReportProcess &process : report.processes)
    if (process.pid == pid)
      return fmt::format("process {}, {}", pid, exitText(process));
  return fmt::format("process {}", pid);
}

std::string heapText(const RefusedCall &call) {
  return call.device == 0 ? std::string(abi::nameOf(call.heap))
                          : fmt::format("{} {}", abi::nameOf(call.heap), call.device);
}

// Only the C library's error numbers have the same names everywhere.
std::string statusText(const RefusedCall &call) {
  if (call.status == 0)
    return {};
  const bool is_errno = call.heap == abi::Heap::Host || call.heap == abi::Heap::Mapping;
  return is_errno ? fmt::format(" ({})", std::strerror(static_cast<int>(call.status)))
                  : fmt::format(" (status {})", static_cast<int64_t>(call.status));
}

void writeRefused(TextTable &table, const OutOfMemory &found) {
  const RefusedCall &call = *found.refused;
  const uint64_t since_ns = sinceStart(call.time_ns, found.report.start_ns);
  table.entry("refused", fmt::format("{} of {}{}, {} after the start", bytesText(call.bytes), heapText(call),
                                     statusText(call), durationText(since_ns)));
  if (!call.place.empty()) {
    const SiteLine &line = call.place.front();
    table.entry("at", wholePlaceOf(line.site, SIZE_MAX));
    for (const CallersText &path : callersOf(line, kWidestName))
      for (const std::string &caller : path.lines)
        table.entry("", caller);
  }
  table.entry("by", fmt::format("thread {} of {}", call.tid, processText(found.report, call.pid)));
  table.entry("hole", found.hole->bytes ? fmt::format("the largest is {}", bytesText(*found.hole->bytes))
                                        : "not known: " + found.hole->unknown);
}

void writeNothingRefused(TextTable &table, const OutOfMemory &found) {
  table.entry("refused",
              found.refusals == 0
                  ? "nothing: no allocator refused memory"
                  : fmt::format("{} times, each followed by a smaller request that succeeded: no memory was missing",
                                countText(found.refusals)));
  for (const ReportProcess &process : found.report.processes)
    if (process.fate == FreeCause::ProcessKilled)
      table.entry("ended", processText(found.report, process.pid) +
                               (process.exit == 128 + 9 ? "; the kernel also does this when memory runs out" : ""));
}

Section sectionOf(const char *title, const std::vector<AliveBlock> &blocks) {
  Section section{"blocks", title, {{"bytes", Unit::Bytes}, {"age", Unit::TimeNs}, {"place", Unit::Place}}, {}};
  for (const AliveBlock &block : blocks)
    section.rows.push_back({block.bytes, block.age_ns, std::make_shared<const SiteText>(block.place)});
  return section;
}

} // namespace

std::vector<Finding> savingFindings(const Report &report) {
  std::vector<Finding> findings;
  std::copy_if(report.findings.begin(), report.findings.end(), std::back_inserter(findings),
               [](const Finding &finding) { return finding.concern == Concern::Memory && finding.saves_bytes != 0; });
  return findings;
}

void writeOutOfMemoryText(std::ostream &out, const OutOfMemory &found, const TableStyle &style) {
  TextTable table(out, style);
  if (found.refused)
    writeRefused(table, found);
  else
    writeNothingRefused(table, found);
  const RemainsReport &alive = found.report.alive;
  table.entry("alive", alive.empty()
                           ? "nothing"
                           : fmt::format("{} in {}{}", bytesText(alive.sum.bytes), blocksText(alive.sum.count),
                                         found.refused ? " then" : " at the end"));
  Report saving;
  saving.findings = savingFindings(found.report);
  writeFindings(table, saving);
  writeRemains(table, alive, "Alive, by place");
  for (const auto &[title, blocks] :
       {std::pair("Alive, the largest", &found.largest), std::pair("Alive, the oldest", &found.oldest)})
    if (!blocks->empty())
      writeSection(table, sectionOf(title, *blocks));
  for (const std::string &damage : found.report.damage)
    table.entry("damage", printable(damage));
}

} // namespace msleaks::analysis::inline text
