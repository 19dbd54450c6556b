// The times that a program names: starts of steps, and marks. They are in the order of time.
#pragma once

#include "analysis/places/labels.h"
#include "analysis/trace/trace_reader.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace msleaks::analysis::inline live {

class Timeline {
public:
  struct Step {
    uint64_t time_ns; // of its start
    uint64_t number;  // as the program counts
    uint32_t process;
  };
  struct Mark {
    uint64_t time_ns;
    LabelId label;
    uint32_t process;
  };

  // Call these in the order of time.
  void addStep(const Step &step) { steps_.push_back(step); }
  void addMark(const Mark &mark) { marks_.push_back(mark); }

  const std::vector<Step> &steps() const { return steps_; }
  const std::vector<Mark> &marks() const { return marks_; }

  // The step of the process at this time; null before its first step.
  const Step *stepAt(uint32_t process, uint64_t time_ns) const {
    auto at = std::upper_bound(steps_.begin(), steps_.end(), time_ns,
                               [](uint64_t time, const Step &step) { return time < step.time_ns; });
    while (at != steps_.begin())
      if ((--at)->process == process)
        return &*at;
    return nullptr;
  }
  // When the first step with this number began, and the time of the first mark with this label.
  std::optional<uint64_t> beginOfStep(uint64_t number) const {
    const auto at = std::find_if(steps_.begin(), steps_.end(), [&](const Step &step) { return step.number == number; });
    return at == steps_.end() ? std::nullopt : std::optional(at->time_ns);
  }
  std::optional<uint64_t> timeOfMark(LabelId label) const {
    const auto at = std::find_if(marks_.begin(), marks_.end(), [&](const Mark &mark) { return mark.label == label; });
    return at == marks_.end() ? std::nullopt : std::optional(at->time_ns);
  }

private:
  std::vector<Step> steps_;
  std::vector<Mark> marks_;
};

} // namespace msleaks::analysis::inline live
