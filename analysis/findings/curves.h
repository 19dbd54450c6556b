// The bytes of some memory at each local maximum of a run (MemoryHistory::times), in two forms for Savings.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline findings {

// A curve that changes at few of the maxima. Its cost depends on the number of changes, not on the length of the run.
class StepCurve {
public:
  struct Step {
    size_t at;     // number of the maximum
    int64_t value; // the value up to the next step; before the first step it is 0
  };

  StepCurve() = default;
  // Takes changes in any order.
  explicit StepCurve(std::vector<std::pair<size_t, int64_t>> changes);

  const std::vector<Step> &steps() const { return steps_; }
  // Appends a step, unless the value does not change. `at` must be after all steps.
  void append(size_t at, int64_t value);
  // Calls f(from, to, value) for each part of [0, maxima) with a constant value.
  template <class F> void forEachPart(size_t maxima, F &&f) const {
    size_t from = 0;
    int64_t value = 0;
    for (const Step &step : steps_) {
      if (step.at > from)
        f(from, step.at, value);
      from = step.at;
      value = step.value;
    }
    if (maxima > from)
      f(from, maxima, value);
  }

private:
  std::vector<Step> steps_;
};

// Computes the curve f(value, ...) from the values of these curves.
template <class F, class... Curves> StepCurve combine(F &&f, const Curves &...curves) {
  const std::vector<StepCurve::Step> *lists[] = {&curves.steps()...};
  size_t next[sizeof...(curves)] = {};
  int64_t values[sizeof...(curves)] = {};
  StepCurve result;
  while (true) {
    size_t at = SIZE_MAX;
    for (size_t i = 0; i < sizeof...(curves); ++i)
      if (next[i] < lists[i]->size())
        at = std::min(at, (*lists[i])[next[i]].at);
    if (at == SIZE_MAX)
      return result;
    for (size_t i = 0; i < sizeof...(curves); ++i)
      if (next[i] < lists[i]->size() && (*lists[i])[next[i]].at == at)
        values[i] = (*lists[i])[next[i]++].value;
    result.append(at, f(std::span<const int64_t>(values)));
  }
}

// A curve with a value for each maximum. Finds its highest point minus a StepCurve by that curve's steps alone.
class HighestCurve {
public:
  HighestCurve() = default;
  explicit HighestCurve(const std::vector<int64_t> &values);

  // The highest point, but at least 0; the second function subtracts a curve first.
  int64_t highest() const { return count_ == 0 ? 0 : std::max<int64_t>(nodes_[1].highest, 0); }
  int64_t highestWithout(const StepCurve &) const;
  void subtract(const StepCurve &);

private:
  // A node stands for a range of maxima. The root stands for all maxima, and children for halves.
  struct Node {
    int64_t highest = 0;
    int64_t added = 0; // added to the whole range; included in `highest` here, but not in the nodes below
  };
  struct Range {
    size_t from, to;
  };
  int64_t highestIn(size_t node, Range of, Range wanted) const;
  void add(size_t node, Range of, Range wanted, int64_t value);

  size_t count_ = 0, leaves_ = 0;
  std::vector<Node> nodes_; // the children of n are 2n and 2n + 1
};

} // namespace msleaks::analysis::inline findings
