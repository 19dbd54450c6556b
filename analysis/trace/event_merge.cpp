#include "analysis/trace/event_merge.h"

#include "analysis/trace/event_source.h"

#include <algorithm>

namespace msleaks::analysis::inline trace {

// Removes the events that the last next() returned. Until now the caller may use them, in the chunk's buffer.
void EventMerge::takeGiven() {
  if (given_ == 0)
    return;
  heap_.front().cursor->take(std::exchange(given_, 0), *opener_);
  settleFirst();
}

// Removes the cursors of threads that have probably ended. If such a thread continues, it gets a new cursor. This makes
// no difference, because all that the old cursor knew is earlier than now.
void EventMerge::dropEnded() {
  std::erase_if(cursors_, [&](const auto &entry) { return entry.second->isForgettable(now_ns_); });
  most_cursors_ = 2 * cursors_.size() + kKeptCursors;
}

StreamCursor &EventMerge::cursorOf(const ChunkHeader &header) {
  if (cursors_.size() >= most_cursors_)
    dropEnded();
  std::unique_ptr<StreamCursor> &cursor = cursors_[keyOfThread(header.process, header.stream)];
  if (!cursor)
    cursor = std::make_unique<StreamCursor>(header.process, header.stream, window_);
  return *cursor;
}

void EventMerge::add(const EventChunk &chunk) {
  takeGiven();
  StreamCursor &cursor = cursorOf(chunk.place.header);
  const bool rested = cursor.done();
  late_chunks_ += cursor.add(chunk, now_ns_);
  if (!rested || cursor.done())
    return;
  heap_.push_back({cursor.time(), keyOfThread(chunk.place.header.process, chunk.place.header.stream), &cursor});
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
}

// Returns the stream that is due after the first one.
EventMerge::Due EventMerge::second() const {
  return std::min(heap_.size() > 1 ? heap_[1] : kNever, heap_.size() > 2 ? heap_[2] : kNever);
}

// The first stream is due later now: moves it down to its place in the heap.
void EventMerge::postponeFirst(uint64_t time_ns) {
  Due due = heap_.front();
  due.time_ns = time_ns;
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

// Updates the heap after the first stream's cursor has moved on.
void EventMerge::settleFirst() {
  const StreamCursor &cursor = *heap_.front().cursor;
  if (!cursor.done())
    return postponeFirst(cursor.time());
  std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
  heap_.pop_back();
}

std::span<const StreamEvent> EventMerge::next(std::optional<uint64_t> limit_ns) {
  takeGiven();
  const Due limit = limit_ns ? Due{*limit_ns, 0, nullptr} : kNever;
  while (!heap_.empty() && heap_.front() < limit) {
    const Due first = heap_.front();
    const std::span<const StreamEvent> ready = first.cursor->ready();
    if (ready.empty()) {
      first.cursor->load(*opener_);
      settleFirst();
      continue;
    }
    const Due other = std::min(limit, second());
    while (given_ < ready.size() && Due{ready[given_].event.header().time, first.key, nullptr} < other)
      ++given_;
    now_ns_ = ready[given_ - 1].event.header().time;
    return ready.first(given_);
  }
  return {};
}

// Reads the next leaf that overlaps the window. Returns false if there is none.
bool LeafCursor::readLeaf() {
  while (leaf_ < leaves_.size() && leaves_.lastTime(leaf_) < window_.begin_ns)
    ++leaf_;
  if (leaf_ == leaves_.size() || window_.endsBefore(leaves_.dueTime(leaf_)))
    return false;
  for (const EventChunk &chunk : leaves_.read(leaf_++, file_, damage_, chunks_))
    merge_.add(chunk);
  return true;
}

std::span<const StreamEvent> LeafCursor::next() {
  for (;;) {
    const bool more = leaf_ < leaves_.size();
    const auto events = merge_.next(more ? std::optional(leaves_.dueTime(leaf_)) : std::nullopt);
    if (!events.empty())
      return events;
    if (!more || (!readLeaf() && leaf_ < leaves_.size()))
      break;
  }
  return {};
}

} // namespace msleaks::analysis::inline trace
