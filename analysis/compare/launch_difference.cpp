#include "analysis/compare/launch_difference.h"

#include "analysis/compare/alignment.h"

#include <deque>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

namespace msleaks::analysis::inline compare {
namespace {

using Json = nlohmann::ordered_json;

LaunchMemory memoryOf(const Launch &launch) { return {launch.before_bytes, launch.after_bytes, launch.peak_bytes}; }

// Whether both launches change the memory in the same way. The memory before them may differ. Then an earlier launch is
// the reason, and the comparison shows it.
bool isSame(const Launch &first, const Launch &second) {
  return first.after_bytes - first.before_bytes == second.after_bytes - second.before_bytes &&
         first.peak_bytes - first.before_bytes == second.peak_bytes - second.before_bytes;
}

// A range and a launch with the same name have different keys.
std::vector<uint32_t> keysOf(const LaunchSequence &sequence) {
  std::vector<uint32_t> keys;
  keys.reserve(sequence.launches.size());
  for (const Launch &launch : sequence.launches)
    keys.push_back(launch.name * 2 + launch.is_range);
  return keys;
}

// Lists the differing launches of a sequence with their neighbours. Neighbours of two differing launches are listed
// once.
class AlignedList {
public:
  explicit AlignedList(LaunchDifferences &to) : to_(to), begin_(to.aligned.size()) {}

  void add(const LaunchDifference &launch) {
    if (launch.state == LaunchState::Same)
      return addSame(launch);
    if (to_.aligned.size() >= LaunchDifferences::kMostAligned) {
      ++to_.differing_left_out;
      return;
    }
    for (const LaunchDifference &near : before_)
      list(near);
    before_.clear();
    list(launch);
    wanted_after_ = LaunchDifferences::kNearest;
  }
  void finish() {
    if (to_.aligned.size() > begin_)
      to_.aligned.back().same_after = left_out_ + before_.size();
  }

private:
  void addSame(const LaunchDifference &launch) {
    if (wanted_after_ != 0) {
      --wanted_after_;
      return list(launch);
    }
    before_.push_back(launch);
    if (before_.size() > LaunchDifferences::kNearest) {
      before_.pop_front();
      ++left_out_;
    }
  }
  void list(const LaunchDifference &launch) { to_.aligned.push_back({launch, std::exchange(left_out_, 0), 0}); }

  LaunchDifferences &to_;
  size_t begin_;
  std::deque<LaunchDifference> before_; // equal launches that are listed if the next one differs
  size_t wanted_after_ = 0;
  uint64_t left_out_ = 0;
};

class SequenceComparison {
public:
  SequenceComparison(const LaunchSequence &first, const LaunchSequence &second, LaunchDifferences &to)
      : first_(first), second_(second), to_(to), aligned_(to) {}

  void run() {
    const Alignment alignment = align(keysOf(first_), keysOf(second_));
    to_.coarse |= alignment.coarse;
    forEachAligned<Launch>(alignment, first_.launches, second_.launches,
                           [this](const Launch *first, const Launch *second) { add(first, second); });
    aligned_.finish();
  }

private:
  LaunchState count(const Launch *first, const Launch *second) {
    if (!first)
      return ++to_.added, LaunchState::New;
    if (!second)
      return ++to_.gone, LaunchState::Gone;
    return isSame(*first, *second) ? (++to_.same, LaunchState::Same) : (++to_.changed, LaunchState::Changed);
  }
  void add(const Launch *first, const Launch *second) {
    const LaunchState state = count(first, second);
    const Launch &any = first ? *first : *second;
    LaunchDifference difference{
        any.name, any.is_range, first ? first_.device : second_.device, first ? first_.process : second_.process, {},
        {},       state};
    if (first)
      difference.before = memoryOf(*first);
    if (second)
      difference.after = memoryOf(*second);
    aligned_.add(difference);
    if (state == LaunchState::Same)
      return;
    if (!any.is_range)
      to_.change_bytes += difference.changeBytes();
    to_.differing.push_back(difference);
  }

  const LaunchSequence &first_, &second_;
  LaunchDifferences &to_;
  AlignedList aligned_;
};

int64_t changeOf(const std::optional<LaunchMemory> &memory) {
  return memory ? static_cast<int64_t>(memory->after_bytes - memory->before_bytes) : 0;
}

Json jsonOf(const std::optional<LaunchMemory> &memory) {
  if (!memory)
    return nullptr;
  return {
      {"before_bytes", memory->before_bytes}, {"after_bytes", memory->after_bytes}, {"peak_bytes", memory->peak_bytes}};
}

} // namespace

const char *nameOf(LaunchState state) {
  switch (state) {
  case LaunchState::Same:
    return "same";
  case LaunchState::Changed:
    return "changed";
  case LaunchState::New:
    return "new";
  case LaunchState::Gone:
    return "gone";
  }
  return "";
}

int64_t LaunchDifference::changeBytes() const { return changeOf(after) - changeOf(before); }

LaunchDifferences compareLaunches(const RunLaunches &first, const RunLaunches &second) {
  static const LaunchSequence kNoSequence;
  const auto keyOf = [](const LaunchSequence &sequence) { return std::tuple(sequence.device, sequence.process); };
  LaunchDifferences differences;
  auto a = first.sequences.begin(), b = second.sequences.begin();
  while (a != first.sequences.end() || b != second.sequences.end()) {
    const bool has_a = a != first.sequences.end() && (b == second.sequences.end() || keyOf(*a) <= keyOf(*b));
    const bool has_b = b != second.sequences.end() && (a == first.sequences.end() || keyOf(*b) <= keyOf(*a));
    SequenceComparison(has_a ? *a : kNoSequence, has_b ? *b : kNoSequence, differences).run();
    a += has_a;
    b += has_b;
  }
  return differences;
}

Json launchesJson(const LaunchDifferences &differences, const NameTable &names) {
  Json array = Json::array();
  for (const LaunchDifference &difference : differences.differing)
    array.push_back({{"name", names[difference.name]},
                     {"kind", difference.is_range ? "range" : "launch"},
                     {"device", difference.device ? Json(*difference.device) : Json(nullptr)},
                     {"process", difference.process},
                     {"before", jsonOf(difference.before)},
                     {"after", jsonOf(difference.after)},
                     {"state", nameOf(difference.state)}});
  return array;
}

Json launchCountsJson(const LaunchDifferences &differences) {
  return {{"same", differences.same}, {"changed", differences.changed},           {"new", differences.added},
          {"gone", differences.gone}, {"change_bytes", differences.change_bytes}, {"coarse", differences.coarse}};
}

} // namespace msleaks::analysis::inline compare
