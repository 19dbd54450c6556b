#include "analysis/findings/curves.h"

#include <bit>
#include <limits>

namespace msleaks::analysis::inline findings {

StepCurve::StepCurve(std::vector<std::pair<size_t, int64_t>> changes) {
  std::sort(changes.begin(), changes.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
  int64_t value = 0;
  for (size_t i = 0; i < changes.size();) {
    const size_t at = changes[i].first;
    for (; i < changes.size() && changes[i].first == at; ++i)
      value += changes[i].second;
    append(at, value);
  }
}

void StepCurve::append(size_t at, int64_t value) {
  if (value != (steps_.empty() ? 0 : steps_.back().value))
    steps_.push_back({at, value});
}

HighestCurve::HighestCurve(const std::vector<int64_t> &values)
    : count_(values.size()), leaves_(std::bit_ceil(std::max<size_t>(values.size(), 1))), nodes_(2 * leaves_) {
  for (size_t i = 0; i < leaves_; ++i)
    nodes_[leaves_ + i].highest = i < count_ ? values[i] : std::numeric_limits<int64_t>::min() / 2;
  for (size_t node = leaves_ - 1; node > 0; --node)
    nodes_[node].highest = std::max(nodes_[2 * node].highest, nodes_[2 * node + 1].highest);
}

int64_t HighestCurve::highestWithout(const StepCurve &curve) const {
  int64_t highest = 0;
  curve.forEachPart(count_, [&](size_t from, size_t to, int64_t value) {
    highest = std::max(highest, highestIn(1, {0, leaves_}, {from, to}) - value);
  });
  return highest;
}

void HighestCurve::subtract(const StepCurve &curve) {
  curve.forEachPart(count_, [&](size_t from, size_t to, int64_t value) {
    if (value != 0)
      add(1, {0, leaves_}, {from, to}, -value);
  });
}

int64_t HighestCurve::highestIn(size_t node, Range of, Range wanted) const {
  if (wanted.from <= of.from && of.to <= wanted.to)
    return nodes_[node].highest;
  const size_t middle = of.from + (of.to - of.from) / 2;
  int64_t highest = std::numeric_limits<int64_t>::min() / 2;
  if (wanted.from < middle)
    highest = std::max(highest, highestIn(2 * node, {of.from, middle}, wanted));
  if (wanted.to > middle)
    highest = std::max(highest, highestIn(2 * node + 1, {middle, of.to}, wanted));
  return highest + nodes_[node].added;
}

void HighestCurve::add(size_t node, Range of, Range wanted, int64_t value) {
  if (wanted.from <= of.from && of.to <= wanted.to) {
    nodes_[node].highest += value;
    nodes_[node].added += value;
    return;
  }
  const size_t middle = of.from + (of.to - of.from) / 2;
  if (wanted.from < middle)
    add(2 * node, {of.from, middle}, wanted, value);
  if (wanted.to > middle)
    add(2 * node + 1, {middle, of.to}, wanted, value);
  nodes_[node].highest = std::max(nodes_[2 * node].highest, nodes_[2 * node + 1].highest) + nodes_[node].added;
}

} // namespace msleaks::analysis::inline findings
