// A running session at one moment, as `msleaks top` shows it to people and to programs.
#pragma once

#include "analysis/live/cohort_sums.h"
#include "analysis/live/timeline.h"
#include "analysis/places/site_text.h"
#include "msleaks/abi/events.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace msleaks::analysis::inline watch {

enum class WatchState : uint8_t {
  Running,
  Ended,  // the session has ended, and all events are in the trace
  Killed, // there is no collector any more, so no events are added to the trace for now
};

// Whether the rows of a place are split further.
struct Split {
  bool by_process = false, by_heap = false;
};

struct FrameRow {
  std::shared_ptr<const SiteText> site; // null: all places that were not named yet, for lack of time
  uint32_t process = 0;                 // if rows are split by process
  abi::Heap heap = abi::Heap::Host;
  BlockSum now, at_moment, at_peak;
  int64_t grownBytes() const { return static_cast<int64_t>(now.bytes - at_moment.bytes); }
  int64_t grownCount() const { return static_cast<int64_t>(now.count - at_moment.count); }
};

struct FrameProcess {
  uint32_t process = 0, pid = 0;
  std::string command; // file name of its program
  bool running = true;
  BlockSum now; // sum of the physical heaps
};
struct FrameHeap {
  abi::Heap heap = abi::Heap::Host;
  BlockSum now;
};

struct Frame {
  WatchState state = WatchState::Running;
  bool behind = false; // the trace contains more events than were read
  std::vector<std::string> command;
  uint64_t time_ns = 0;   // time of this frame since the start
  uint64_t moment_ns = 0; // time since the start from which growth counts
  uint64_t events = 0;
  double events_per_s = 0;
  BlockSum now; // sum of the physical heaps
  uint64_t peak_bytes = 0, peak_time_ns = 0;
  std::optional<Timeline::Step> step; // the step that began last
  uint64_t steps = 0;
  std::vector<FrameProcess> processes; // running processes, and ended ones of which something is counted
  uint64_t ended_processes = 0;
  std::vector<FrameHeap> heaps; // heaps with blocks
  // Rows of the physical heaps. If rows are split by heap, also rows of pools. Most bytes first.
  std::vector<FrameRow> rows;
  std::vector<std::string> damage;
};

} // namespace msleaks::analysis::inline watch
