// A checkpoint as a chunk: what later events need to know of those until a time. What its bytes mean is the live set's
// (analysis/live/live_set.h).
#pragma once

#include "analysis/trace/chunk.h"
#include "analysis/trace/index_root.h"
#include "analysis/trace/trace_reader.h"

#include <cstdint>
#include <span>
#include <vector>

namespace msleaks::analysis::inline trace {

struct PackedCheckpoint {
  uint64_t time_ns = 0;
  std::vector<uint8_t> chunk;
};

PackedCheckpoint packCheckpoint(uint64_t time_ns, uint64_t events, std::span<const uint8_t> state, Compressor &);
// Fails when there is none at this place, or it is not whole.
Result<Checkpoint> readCheckpoint(const InputFile &, const CheckpointPlace &);

} // namespace msleaks::analysis::inline trace
