// The events of a window of time, in their merged order: leaves are read when their events are due.
#pragma once

#include "analysis/trace/event_merge.h"
#include "analysis/trace/event_source.h"

namespace msleaks::analysis::trace {

class LeafCursor final : public EventSource {
public:
  LeafCursor(const EventLeaves &leaves, const InputFile &file, DamageNotes &damage, const TimeWindow &window)
      : leaves_(leaves), file_(file), damage_(damage), window_(window), opener_(file, damage), merge_(window, opener_) {
  }
  LeafCursor(const LeafCursor &) = delete;

  std::span<const StreamEvent> next() override;

private:
  bool readLeaf();

  const EventLeaves &leaves_;
  const InputFile &file_;
  DamageNotes &damage_;
  TimeWindow window_;
  ChunkOpener opener_;
  EventMerge merge_;
  size_t leaf_ = 0; // the next one
  std::vector<EventChunk> chunks_;
};

} // namespace msleaks::analysis::trace
