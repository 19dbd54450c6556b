#include "trace/event_merge.h"

#include <algorithm>

namespace msleaks::analysis::trace {

namespace {

// When a stream's next event is due; equal times go by the stream's number.
struct Due {
  uint64_t time_ns;
  size_t stream;
  auto operator<=>(const Due &) const = default;
};

// A binary heap, the stream that is due first on top.
class Queue {
public:
  void add(Due due) {
    heap_.push_back(due);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }
  bool empty() const { return heap_.empty(); }
  const Due &first() const { return heap_.front(); }
  // The one behind the first.
  Due second() const {
    constexpr Due kNever{UINT64_MAX, SIZE_MAX};
    return std::min(heap_.size() > 1 ? heap_[1] : kNever, heap_.size() > 2 ? heap_[2] : kNever);
  }
  // The first one is due later now: it sinks to its place.
  void postponeFirst(uint64_t time_ns) {
    const Due due{time_ns, heap_.front().stream};
    size_t hole = 0;
    for (size_t child = 1; child < heap_.size(); child = 2 * hole + 1) {
      if (child + 1 < heap_.size() && heap_[child + 1] < heap_[child])
        ++child;
      if (due < heap_[child])
        break;
      heap_[hole] = heap_[child];
      hole = child;
    }
    heap_[hole] = due;
  }
  void removeFirst() {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    heap_.pop_back();
  }

private:
  std::vector<Due> heap_;
};

// How many of the stream's ready events come before every other stream's next one.
size_t runLength(std::span<const StreamEvent> events, size_t stream, const Due &other) {
  size_t count = 0;
  while (count < events.size() && Due{events[count].event.header().time, stream} < other)
    ++count;
  return count;
}

} // namespace

void mergeStreams(const std::vector<StreamPlan> &plans, const TimeWindow &window, ChunkOpener &opener,
                  const std::function<bool(std::span<const StreamEvent>)> &f) {
  std::vector<StreamCursor> cursors;
  cursors.reserve(plans.size());
  Queue queue;
  for (const StreamPlan &plan : plans) {
    cursors.emplace_back(plan, window);
    if (!cursors.back().done())
      queue.add({cursors.back().time(), cursors.size() - 1});
  }
  while (!queue.empty()) {
    const size_t stream = queue.first().stream;
    StreamCursor &cursor = cursors[stream];
    if (const std::span<const StreamEvent> ready = cursor.ready(); ready.empty()) {
      cursor.load(opener);
    } else {
      const size_t count = runLength(ready, stream, queue.second());
      if (!f(ready.first(count)))
        return;
      cursor.take(count, opener);
    }
    if (cursor.done())
      queue.removeFirst();
    else
      queue.postponeFirst(cursor.time());
  }
}

} // namespace msleaks::analysis::trace
