// Which chunks make up each stream: in order of position, what is stored twice left out, and never going back in time.
#pragma once

#include "trace/chunk_index.h"

#include <cstdint>
#include <vector>

namespace msleaks::analysis::trace {

struct PlannedChunk {
  ChunkPlace place;
  uint32_t skip_slots; // at its front, stored by an earlier chunk already
  // Span of time after its events are lifted to where the stream already was: the clock is refitted now and then, and
  // a chunk may begin a few ns before the last one ended.
  uint64_t first_time_ns, last_time_ns;
};

struct StreamPlan {
  uint32_t process;
  uint32_t stream;
  std::vector<PlannedChunk> chunks;
  uint64_t stored_until = 0;
  uint64_t events = 0; // filled in by whoever can decode the chunks of which a part is skipped
};

// Plans for all streams, by process and stream.
std::vector<StreamPlan> planStreams(const std::vector<ChunkPlace> &chunks);

} // namespace msleaks::analysis::trace
