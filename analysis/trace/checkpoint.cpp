#include "analysis/trace/checkpoint.h"

#include <fmt/format.h>

namespace msleaks::analysis::inline trace {

PackedCheckpoint packCheckpoint(uint64_t time_ns, uint64_t events, std::span<const uint8_t> state,
                                Compressor &compressor) {
  ByteWriter chunk;
  packChunk({.kind = ChunkKind::Index,
             .stream = static_cast<uint32_t>(IndexLevel::Checkpoint),
             .first_position = events,
             .first_time_ns = time_ns,
             .last_time_ns = time_ns},
            state, compressor, chunk);
  return {time_ns, {chunk.written().begin(), chunk.written().end()}};
}

Result<Checkpoint> readCheckpoint(const InputFile &file, const CheckpointPlace &place) {
  uint8_t bytes[sizeof(ChunkHeader)];
  MSL_TRY(file.readAll(place.offset, bytes));
  const auto header = parseChunkHeader(bytes);
  if (!header || header->kind != ChunkKind::Index || header->stream != static_cast<uint32_t>(IndexLevel::Checkpoint) ||
      header->first_time_ns != place.time_ns)
    return fail(fmt::format("no checkpoint at byte {}", place.offset));
  Checkpoint checkpoint{place.time_ns, header->first_position, {}};
  MSL_TRY(PayloadReader(file).read(*header, place.offset, checkpoint.state));
  return checkpoint;
}

} // namespace msleaks::analysis::inline trace
