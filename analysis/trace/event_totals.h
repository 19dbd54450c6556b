// Adds up the events of all chunks, for a trace whose index does not contain these sums.
#pragma once

#include "analysis/trace/event_leaves.h"

#include <vector>

namespace msleaks::analysis::inline trace {

struct EventPlan {
  std::vector<EventChunk> chunks;    // without the chunks that are stored twice
  std::vector<StreamTotals> streams; // by process and stream; counts each event once
};

// Takes all chunks of events, in the order of the file.
EventPlan planEvents(const std::vector<ChunkPlace> &chunks, const InputFile &file);

} // namespace msleaks::analysis::inline trace
