// The upper level of a trace's index: its leaves, and sums that spare a reader the leaves.
#pragma once

#include "analysis/trace/bytes.h"
#include "analysis/trace/format.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace msleaks::analysis::inline trace {

// A set of chunk kinds: a bit for each. Those that this version cannot know have one together.
using ChunkKinds = uint64_t;
constexpr ChunkKinds kindBit(ChunkKind kind) {
  return uint64_t{1} << std::min<uint32_t>(static_cast<uint32_t>(kind), 63);
}
// Those of later versions.
inline constexpr ChunkKinds kForeignKinds = ~((uint64_t{2} << static_cast<uint32_t>(kLastChunkKind)) - 1);

// There are leaves for chunks of events, for those that opening a trace reads, and for those that only a report reads.
// So a reader of one kind reads no leaf of the others. Within such a group leaves are in the order of the file.
struct LeafPlace {
  uint64_t offset = 0; // of the leaf's own chunk
  ChunkKinds kinds = 0;
  uint64_t chunks = 0, events = 0;
  uint64_t first_time_ns = UINT64_MAX, last_time_ns = 0;
  uint64_t begin = 0, end = 0; // of the part of the file that has all its chunks, and no other ones of their kinds
};

struct StreamTotals {
  uint32_t process = 0, stream = 0;
  uint64_t events : 63 = 0;
  // Some positions are stored twice: how many events it has, and which of them come, tells only a look at all chunks.
  uint64_t repeated : 1 = 0;
  uint64_t stored_until = 0;
};

struct DefinitionTotals {
  uint32_t process = 0;
  uint64_t bytes = 0;
};

// Of a chunk that says what was alive behind all events until a time.
struct CheckpointPlace {
  uint64_t offset = 0;
  uint64_t time_ns = 0;
};

struct IndexRoot {
  std::vector<LeafPlace> leaves;                  // by offset
  std::vector<StreamTotals> streams;              // by process and stream
  std::vector<DefinitionTotals> definition_bytes; // by process
  std::vector<CheckpointPlace> checkpoints;       // by offset, which is by time
};

void writeRoot(const IndexRoot &root, ByteWriter &to);
// Nothing for what writeRoot does not write for a file in which the index begins at `index_begin`.
std::optional<IndexRoot> readRoot(std::span<const uint8_t> payload, uint64_t index_begin);

} // namespace msleaks::analysis::inline trace
