// Lists a trace's chunks of events leaf by leaf, in the order of the file. Leaves of an index are read when needed.
// Without such an index, or if events are stored twice, the list of chunks is in memory.
#pragma once

#include "analysis/trace/chunk_index.h"
#include "analysis/trace/index_entries.h"
#include "analysis/trace/per_stream.h"

#include <optional>
#include <vector>

namespace msleaks::analysis::inline trace {

struct EventChunk {
  ChunkPlace place;
  uint32_t skip_slots = 0; // slots at the front of the chunk that an earlier chunk has stored
};

// Finds events that are stored twice. If a collector is killed after it has stored events, and before it has removed
// them from the ring, the next collector stores them again. Takes chunks in the order of the file.
class StreamPositions {
public:
  // Returns nothing if earlier chunks have stored all slots of this chunk.
  std::optional<EventChunk> take(const ChunkPlace &place);

private:
  PerStream<uint64_t> stored_until_;
};

// Several threads may use an object at the same time.
class EventLeaves {
public:
  EventLeaves() = default;
  // Uses the leaves of an index. The index must say that no stream has events that are stored twice.
  explicit EventLeaves(const IndexRoot &root);
  // Takes all chunks. The caller has removed what is stored twice.
  explicit EventLeaves(std::vector<EventChunk> chunks);

  size_t size() const { return leaves_.size(); }
  // No event in this leaf or in a later leaf is earlier than this time.
  uint64_t dueTime(size_t leaf) const { return leaves_[leaf].due_ns; }
  // No event in this leaf is later than this time, unless the merge raises its time.
  uint64_t lastTime(size_t leaf) const { return leaves_[leaf].place.last_time_ns; }
  // Returns the leaf's chunks. Stores them in `buffer`, unless they are already in memory.
  std::span<const EventChunk> read(size_t leaf, const InputFile &file, DamageNotes &damage,
                                   std::vector<EventChunk> &buffer) const;

private:
  struct Leaf {
    LeafPlace place;
    uint64_t due_ns;
  };
  void findDueTimes();
  std::vector<Leaf> leaves_;
  std::vector<EventChunk> chunks_; // if they are in memory: kLeafChunks of them are one leaf
};

} // namespace msleaks::analysis::inline trace
