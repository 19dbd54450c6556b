// Packs a checkpoint as a chunk, and reads it. A checkpoint is the state after all events until a time. An analysis can
// begin there. analysis/live/live_set.h gives the bytes their meaning.
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
// Fails if there is no checkpoint at this place, or if it is damaged.
Result<Checkpoint> readCheckpoint(const InputFile &, const CheckpointPlace &);

} // namespace msleaks::analysis::inline trace
