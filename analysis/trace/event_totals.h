// Sums over the chunks of a trace's events, where no index has them.
#pragma once

#include "analysis/trace/event_leaves.h"

#include <vector>

namespace msleaks::analysis::inline trace {

struct EventPlan {
  std::vector<EventChunk> chunks;    // without what is stored twice
  std::vector<StreamTotals> streams; // by process and stream; each event counted once
};

// From all chunks of events, in the order of the file.
EventPlan planEvents(const std::vector<ChunkPlace> &chunks, const InputFile &file);

} // namespace msleaks::analysis::inline trace
