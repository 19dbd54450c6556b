// A running session at one moment, as people and programs look at it.
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
  Ended,  // in order: all is in the trace
  Killed, // nobody collects any more: what is in the trace is all there is for now
};

// How rows are split, besides by place.
struct Split {
  bool by_process = false, by_heap = false;
};

struct FrameRow {
  std::shared_ptr<const SiteText> site; // null: places that had no time to be named yet, together
  uint32_t process = 0;                 // where rows are split so
  abi::Heap heap = abi::Heap::Host;
  BlockSum now, at_moment, at_peak;
  int64_t grownBytes() const { return static_cast<int64_t>(now.bytes - at_moment.bytes); }
  int64_t grownCount() const { return static_cast<int64_t>(now.count - at_moment.count); }
};

struct FrameProcess {
  uint32_t process = 0, pid = 0;
  std::string command; // its program, without the folder
  bool running = true;
  BlockSum now; // of the physical heaps
};
struct FrameHeap {
  abi::Heap heap = abi::Heap::Host;
  BlockSum now;
};

struct Frame {
  WatchState state = WatchState::Running;
  bool behind = false; // more of the trace is there than was taken in
  std::vector<std::string> command;
  uint64_t time_ns = 0;   // since the start, that what is said here is of
  uint64_t moment_ns = 0; // since the start, that growth counts from
  uint64_t events = 0;
  double events_per_s = 0;
  BlockSum now; // of the physical heaps
  uint64_t peak_bytes = 0, peak_time_ns = 0;
  std::optional<Timeline::Step> step; // that began last
  uint64_t steps = 0;
  std::vector<FrameProcess> processes; // that ran, and those of which something is counted
  uint64_t ended_processes = 0;
  std::vector<FrameHeap> heaps; // that have something
  // Rows of the physical heaps; with a split by heap, those of pools too. Most bytes first.
  std::vector<FrameRow> rows;
  std::vector<std::string> damage;
};

} // namespace msleaks::analysis::inline watch
