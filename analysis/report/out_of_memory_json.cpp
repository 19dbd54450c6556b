#include "analysis/report/out_of_memory.h"

#include "report_json.h"

#include <algorithm>

namespace msleaks::analysis {
namespace {

uint64_t timeInRun(const Report &report, uint64_t time_ns) {
  return time_ns > report.start_ns ? time_ns - report.start_ns : 0;
}

Json jsonOf(const RefusedCall &call, const Report &report) {
  return {{"bytes", call.bytes},
          {"status", call.status},
          {"heap", abi::nameOf(call.heap)},
          {"device", call.device},
          {"time_ns", call.time_ns},
          {"since_start_ns", timeInRun(report, call.time_ns)},
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

} // namespace msleaks::analysis
