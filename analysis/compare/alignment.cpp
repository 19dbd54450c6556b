#include "analysis/compare/alignment.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

namespace msleaks::analysis::inline compare {
namespace {

using Index = int32_t;
using Numbers = std::vector<uint32_t>;

// A part of both sequences: [x0, x1) of the first, [y0, y1) of the second.
struct Box {
  Index x0, x1, y0, y1;
};

struct Point {
  Index x, y;
};

// How far paths get on each diagonal x - y. All paths begin in one corner of a box, and all positions count from this
// corner.
class Frontier {
public:
  static constexpr Index kNotReached = -1;

  void reserve(size_t diagonals) {
    furthest_.resize(diagonals + 3);
    centre_ = static_cast<Index>(furthest_.size() / 2);
  }
  void begin(Index width, Index height) {
    width_ = width;
    height_ = height;
    edits_ = -1;
    at(-1) = kNotReached;
    at(1) = 0; // One step down from here leads to the corner.
  }
  // Allows the paths one more edit. Afterwards, they can end on every other diagonal from least() to most().
  void addEdit() {
    ++edits_;
    least_ = -edits_ + 2 * std::max<Index>(0, edits_ - height_);
    most_ = edits_ - 2 * std::max<Index>(0, edits_ - width_);
    if (edits_ > 0)
      at(-edits_ - 1) = at(edits_ + 1) = kNotReached;
  }
  Index least() const { return least_; }
  Index most() const { return most_; }
  // Returns where a path with one more edit enters this diagonal. A path that would leave the box is not needed,
  // because another path reached the edge with fewer edits.
  Index enter(Index diagonal) const {
    const Index right =
        at(diagonal - 1) == kNotReached || at(diagonal - 1) == width_ ? kNotReached : at(diagonal - 1) + 1;
    const Index down = at(diagonal + 1) - diagonal > height_ ? kNotReached : at(diagonal + 1);
    return std::max(right, down);
  }
  void set(Index diagonal, Index x) { at(diagonal) = x; }
  // Returns kNotReached also for diagonals that no path has reached.
  Index reached(Index diagonal) const { return diagonal < -edits_ || diagonal > edits_ ? kNotReached : at(diagonal); }
  // Returns the reached point that is furthest from the corner.
  Point best() const {
    Point best{0, 0};
    for (Index diagonal = least_; diagonal <= most_; diagonal += 2)
      if (const Index x = at(diagonal); x != kNotReached && 2 * x - diagonal > best.x + best.y)
        best = {x, x - diagonal};
    return best;
  }

private:
  size_t indexOf(Index diagonal) const { return static_cast<size_t>(centre_) + static_cast<size_t>(diagonal); }
  Index &at(Index diagonal) { return furthest_[indexOf(diagonal)]; }
  Index at(Index diagonal) const { return furthest_[indexOf(diagonal)]; }

  std::vector<Index> furthest_; // how far paths get, by diagonal
  Index centre_ = 0, width_ = 0, height_ = 0;
  Index edits_ = 0, least_ = 0, most_ = 0;
};

class Aligner {
public:
  Aligner(const Numbers &first, const Numbers &second, AlignmentBounds bounds)
      : first_(first), second_(second), bounds_(bounds), steps_left_(bounds.most_steps) {
    // Two searches meet in the middle, so each needs at most half of all edits, plus one.
    const size_t diagonals = first.size() + second.size() + 4;
    forward_.reserve(diagonals);
    backward_.reserve(diagonals);
  }
  Alignment run();

private:
  // A task to do: to align a box, or to add a run of equal elements after such a box.
  struct Task {
    Box box;
    Index equal = 0; // length of the run that begins at the box's first corner; 0: align the box
  };

  void take(Index x, Index y, Index count);
  void align(Box);
  Point split(const Box &);
  std::optional<Point> stepForward(const Box &);
  std::optional<Point> stepBackward(const Box &);
  bool isTooFar(Index edits) const { return steps_left_ == 0 && edits >= std::max<Index>(1, bounds_.edits_behind); }
  void spend(Index steps) { steps_left_ -= std::min(steps_left_, static_cast<uint64_t>(steps)); }

  const Numbers &first_, &second_;
  AlignmentBounds bounds_;
  uint64_t steps_left_;
  Frontier forward_, backward_;
  std::vector<Task> tasks_; // The last task is done first. There is no recursion, because sequences may be long.
  Alignment result_;
};

void Aligner::take(Index x, Index y, Index count) {
  const EqualRun run{static_cast<size_t>(x), static_cast<size_t>(y), static_cast<size_t>(count)};
  if (!result_.equal.empty()) {
    EqualRun &last = result_.equal.back();
    if (last.first + last.count == run.first && last.second + last.count == run.second) {
      last.count += run.count;
      return;
    }
  }
  result_.equal.push_back(run);
}

Alignment Aligner::run() {
  tasks_.push_back({{0, static_cast<Index>(first_.size()), 0, static_cast<Index>(second_.size())}});
  while (!tasks_.empty()) {
    const Task task = tasks_.back();
    tasks_.pop_back();
    if (task.equal != 0)
      take(task.box.x0, task.box.y0, task.equal);
    else
      align(task.box);
  }
  return std::move(result_);
}

void Aligner::align(Box box) {
  const Index x0 = box.x0, y0 = box.y0;
  while (box.x0 < box.x1 && box.y0 < box.y1 &&
         first_[static_cast<size_t>(box.x0)] == second_[static_cast<size_t>(box.y0)])
    ++box.x0, ++box.y0;
  if (box.x0 != x0)
    take(x0, y0, box.x0 - x0);
  const Index x1 = box.x1;
  while (box.x0 < box.x1 && box.y0 < box.y1 &&
         first_[static_cast<size_t>(box.x1 - 1)] == second_[static_cast<size_t>(box.y1 - 1)])
    --box.x1, --box.y1;
  if (box.x1 != x1)
    tasks_.push_back({{box.x1, box.x1, box.y1, box.y1}, x1 - box.x1});
  if (box.x0 == box.x1 || box.y0 == box.y1)
    return;
  const Point middle = split(box);
  tasks_.push_back({{middle.x, box.x1, middle.y, box.y1}});
  tasks_.push_back({{box.x0, middle.x, box.y0, middle.y}});
}

// Returns a point on a shortest path from corner to corner. If the search is too long, returns the furthest point that
// it reached. Both parts of the box need fewer edits than the box, because neither their first nor their last elements
// are equal.
Point Aligner::split(const Box &box) {
  forward_.begin(box.x1 - box.x0, box.y1 - box.y0);
  backward_.begin(box.x1 - box.x0, box.y1 - box.y0);
  for (Index edits = 0;; ++edits) {
    if (const auto met = stepForward(box))
      return *met;
    if (const auto met = stepBackward(box))
      return *met;
    if (!isTooFar(edits))
      continue;
    result_.coarse = true;
    const Point ahead = forward_.best(), behind = backward_.best();
    if (ahead.x + ahead.y >= behind.x + behind.y)
      return {box.x0 + ahead.x, box.y0 + ahead.y};
    return {box.x1 - behind.x, box.y1 - behind.y};
  }
}

std::optional<Point> Aligner::stepForward(const Box &box) {
  const Index width = box.x1 - box.x0, height = box.y1 - box.y0;
  const uint32_t *first = first_.data() + box.x0, *second = second_.data() + box.y0;
  forward_.addEdit();
  for (Index diagonal = forward_.least(); diagonal <= forward_.most(); diagonal += 2) {
    const Index entered = forward_.enter(diagonal);
    Index x = entered;
    if (x != Frontier::kNotReached)
      while (x < width && x - diagonal < height && first[x] == second[x - diagonal])
        ++x;
    forward_.set(diagonal, x);
    spend(x - entered + 1);
    const Index back = backward_.reached(width - height - diagonal);
    if (x != Frontier::kNotReached && back != Frontier::kNotReached && x + back >= width)
      return Point{box.x0 + x, box.y0 + x - diagonal};
  }
  return std::nullopt;
}

std::optional<Point> Aligner::stepBackward(const Box &box) {
  const Index width = box.x1 - box.x0, height = box.y1 - box.y0;
  const uint32_t *first = first_.data() + box.x1 - 1, *second = second_.data() + box.y1 - 1;
  backward_.addEdit();
  for (Index diagonal = backward_.least(); diagonal <= backward_.most(); diagonal += 2) {
    const Index entered = backward_.enter(diagonal);
    Index x = entered;
    if (x != Frontier::kNotReached)
      while (x < width && x - diagonal < height && first[-x] == second[diagonal - x])
        ++x;
    backward_.set(diagonal, x);
    spend(x - entered + 1);
    const Index ahead = forward_.reached(width - height - diagonal);
    if (x != Frontier::kNotReached && ahead != Frontier::kNotReached && x + ahead >= width)
      return Point{box.x1 - x, box.y1 - x + diagonal};
  }
  return std::nullopt;
}

// The elements of a sequence that also occur in the other sequence. Only these elements can be equal.
struct Shared {
  Numbers numbers;
  std::vector<Index> places; // places of the elements in the sequence
};

Shared sharedOf(std::span<const uint32_t> sequence, const std::unordered_set<uint32_t> &of_other) {
  Shared shared;
  for (size_t i = 0; i < sequence.size(); ++i)
    if (of_other.contains(sequence[i])) {
      shared.numbers.push_back(sequence[i]);
      shared.places.push_back(static_cast<Index>(i));
    }
  return shared;
}

// Converts runs of shared elements into runs of the whole sequences. An element of one sequence only ends a run.
std::vector<EqualRun> placed(const std::vector<EqualRun> &runs, const Shared &first, const Shared &second) {
  std::vector<EqualRun> all;
  for (const EqualRun &run : runs)
    for (size_t i = 0; i < run.count; ++i) {
      const auto x = static_cast<size_t>(first.places[run.first + i]),
                 y = static_cast<size_t>(second.places[run.second + i]);
      if (!all.empty() && all.back().first + all.back().count == x && all.back().second + all.back().count == y)
        ++all.back().count;
      else
        all.push_back({x, y, 1});
    }
  return all;
}

} // namespace

size_t Alignment::equalCount() const {
  size_t count = 0;
  for (const EqualRun &run : equal)
    count += run.count;
  return count;
}

Alignment align(std::span<const uint32_t> first, std::span<const uint32_t> second, AlignmentBounds bounds) {
  const Shared shared_first = sharedOf(first, {second.begin(), second.end()});
  const Shared shared_second = sharedOf(second, {first.begin(), first.end()});
  Alignment alignment = Aligner(shared_first.numbers, shared_second.numbers, bounds).run();
  alignment.equal = placed(alignment.equal, shared_first, shared_second);
  return alignment;
}

} // namespace msleaks::analysis::inline compare
