// Which part of a recording a report is about.
#pragma once

#include "analysis/live/live_set.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

namespace msleaks::analysis {

struct StepBegin {
  uint64_t number; // as the program counts
};
struct MarkNamed {
  std::string label;
};
// A time (CLOCK_MONOTONIC, ns), the beginning of the first step of a number, or the first mark of a name.
using Moment = std::variant<uint64_t, StepBegin, MarkNamed>;

// Times of [from, to). What is alive at `from` counts as allocated then; what is alive at `to` is alive at the end.
// With `born_until`: only blocks of [from, born_until) count, and those that are alive at `to` are leaked.
struct Window {
  std::optional<Moment> from, born_until, to;

  bool hasAll() const { return !from && !born_until && !to; }
};

// A thread of a process, both as the trace numbers them.
using ThreadKey = std::pair<uint32_t, uint32_t>;

// Blocks that these threads allocated, whoever frees them. An empty part selects all.
struct Selection {
  std::optional<std::set<uint32_t>> processes; // numbers in the trace
  std::optional<std::set<ThreadKey>> threads;
  std::optional<abi::Heap> heap;

  bool hasAll() const { return !processes && !threads && !heap; }
  bool hasProcess(uint32_t process) const { return !processes || processes->contains(process); }
  bool hasThread(uint32_t process, uint32_t stream) const {
    return hasProcess(process) && (!threads || threads->contains({process, stream}));
  }
  bool has(const Block &block) const {
    return hasThread(block.process, block.stream) && (!heap || *heap == block.heap);
  }
};

} // namespace msleaks::analysis
