#include "analysis/trace/leaf_cursor.h"

namespace msleaks::analysis::trace {

// The next leaf that reaches into the window; false when there is none.
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

} // namespace msleaks::analysis::trace
