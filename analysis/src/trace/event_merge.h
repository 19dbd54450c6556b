// All streams of a trace as one, by time.
#pragma once

#include "trace/stream_cursor.h"

namespace msleaks::analysis::trace {

// Calls f with spans of events, each of one stream, in order of time; equal times in order of process and stream.
// f returns false to stop.
void mergeStreams(const std::vector<StreamPlan> &plans, const TimeWindow &window, ChunkOpener &opener,
                  const std::function<bool(std::span<const StreamEvent>)> &f);

} // namespace msleaks::analysis::trace
