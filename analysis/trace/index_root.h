// The upper level of a trace's index. It lists the leaves, and contains sums that a reader needs without the leaves.
#pragma once

#include "analysis/trace/bytes.h"
#include "analysis/trace/format.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace msleaks::analysis::inline trace {

// A set of chunk kinds, with one bit for each kind. All kinds of which this version has no bit share the last bit.
using ChunkKinds = uint64_t;
constexpr ChunkKinds kindBit(ChunkKind kind) {
  return uint64_t{1} << std::min<uint32_t>(static_cast<uint32_t>(kind), 63);
}
// The kinds of later versions.
inline constexpr ChunkKinds kForeignKinds = ~((uint64_t{2} << static_cast<uint32_t>(kLastChunkKind)) - 1);

// A leaf lists chunks of one group: events, chunks that a reader needs to open a trace, or chunks that only a report
// reads. So a reader of one group skips the others' leaves. Leaves of a group are in the order of the file.
struct LeafPlace {
  uint64_t offset = 0; // of the leaf itself
  ChunkKinds kinds = 0;
  uint64_t chunks = 0, events = 0;
  uint64_t first_time_ns = UINT64_MAX, last_time_ns = 0;
  uint64_t begin = 0, end = 0; // a part of the file that contains all its chunks, and no other chunk of these kinds
};

struct StreamTotals {
  uint32_t process = 0, stream = 0;
  uint64_t events : 63 = 0;
  // Whether some positions are stored twice. Then only a look at all chunks tells how many events the stream has.
  uint64_t repeated : 1 = 0;
  uint64_t stored_until = 0;
};

struct DefinitionTotals {
  uint32_t process = 0;
  uint64_t bytes = 0;
};

// The place of a chunk that contains the live set after all events until a time.
struct CheckpointPlace {
  uint64_t offset = 0;
  uint64_t time_ns = 0;
};

struct IndexRoot {
  std::vector<LeafPlace> leaves;                  // by offset
  std::vector<StreamTotals> streams;              // by process and stream
  std::vector<DefinitionTotals> definition_bytes; // by process
  std::vector<CheckpointPlace> checkpoints;       // by offset, which is the order of time, too
};

void writeRoot(const IndexRoot &root, ByteWriter &to);
// Returns nothing if writeRoot cannot have written the payload for a file whose index begins at `index_begin`.
std::optional<IndexRoot> readRoot(std::span<const uint8_t> payload, uint64_t index_begin);

} // namespace msleaks::analysis::inline trace
