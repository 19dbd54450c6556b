#include "analysis/result/writer.h"
#include "analysis/watch/frame_text.h"

#include <sstream>

namespace msleaks::analysis::inline watch {
namespace {

Json sumOf(const BlockSum &sum) { return {{"bytes", sum.bytes}, {"count", sum.count}}; }

Json rowOf(const FrameRow &row, const Frame &frame) {
  Json json = {{"bytes", row.now.bytes},
               {"count", row.now.count},
               {"growth_bytes", row.grownBytes()},
               {"growth_count", row.grownCount()},
               {"peak_bytes", row.at_peak.bytes},
               {"heap", abi::nameOf(row.heap)},
               {"pid", nullptr},
               {"site", row.site ? jsonOf(*row.site) : Json()}};
  for (const FrameProcess &process : frame.processes)
    if (process.process == row.process)
      json["pid"] = process.pid;
  return json;
}

const char *nameOf(WatchState state) {
  switch (state) {
  case WatchState::Running:
    return "running";
  case WatchState::Ended:
    return "ended";
  case WatchState::Killed:
    break;
  }
  return "orphaned";
}

} // namespace

std::string jsonOf(const Frame &frame, const std::string &run) {
  Json json = {{"run", run},
               {"state", nameOf(frame.state)},
               {"command", frame.command},
               {"time_ns", frame.time_ns},
               {"events", frame.events},
               {"events_per_s", frame.events_per_s},
               {"alive", sumOf(frame.now)},
               {"peak", {{"bytes", frame.peak_bytes}, {"time_ns", frame.peak_time_ns}}},
               {"steps", frame.steps},
               {"step", frame.step ? Json(frame.step->number) : Json()},
               {"ended_processes", frame.ended_processes},
               {"processes", Json::array()},
               {"heaps", Json::array()},
               {"rows", Json::array()},
               {"damage", frame.damage}};
  for (const FrameProcess &process : frame.processes)
    json["processes"].push_back({{"pid", process.pid},
                                 {"command", process.command},
                                 {"running", process.running},
                                 {"bytes", process.now.bytes},
                                 {"count", process.now.count}});
  for (const FrameHeap &heap : frame.heaps)
    json["heaps"].push_back({{"heap", abi::nameOf(heap.heap)}, {"bytes", heap.now.bytes}, {"count", heap.now.count}});
  for (const FrameRow &row : frame.rows)
    json["rows"].push_back(rowOf(row, frame));
  std::ostringstream out;
  write(out, json, 2);
  return out.str();
}

} // namespace msleaks::analysis::inline watch
