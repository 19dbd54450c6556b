// The chunks of events of a trace, in the order of the file and a leaf at a time. They are read from the index when
// they are needed. They are known already where there is no such index, or something is stored twice.
#pragma once

#include "analysis/trace/chunk_index.h"
#include "analysis/trace/index_entries.h"
#include "analysis/trace/per_stream.h"

#include <optional>
#include <vector>

namespace msleaks::analysis::inline trace {

struct EventChunk {
  ChunkPlace place;
  uint32_t skip_slots = 0; // at its front, stored by an earlier chunk already
};

// Tells chunks that are stored twice: a collector was killed between storing events and taking them from the ring, and
// who went on stored them again. Chunks come in the order of the file.
class StreamPositions {
public:
  // Nothing when all of it is known already.
  std::optional<EventChunk> take(const ChunkPlace &place);

private:
  PerStream<uint64_t> stored_until_;
};

// May be used by several threads.
class EventLeaves {
public:
  EventLeaves() = default;
  // Those of an index, which has no stream of which something is stored twice.
  explicit EventLeaves(const IndexRoot &root);
  // All chunks, without what is stored twice.
  explicit EventLeaves(std::vector<EventChunk> chunks);

  size_t size() const { return leaves_.size(); }
  // No event in this leaf, nor in one behind it, is earlier.
  uint64_t dueTime(size_t leaf) const { return leaves_[leaf].due_ns; }
  // No event in this leaf is later, before it is lifted.
  uint64_t lastTime(size_t leaf) const { return leaves_[leaf].place.last_time_ns; }
  // Its chunks; in `buffer`, unless they are here already.
  std::span<const EventChunk> read(size_t leaf, const InputFile &file, DamageNotes &damage,
                                   std::vector<EventChunk> &buffer) const;

private:
  struct Leaf {
    LeafPlace place;
    uint64_t due_ns;
  };
  void findDueTimes();
  std::vector<Leaf> leaves_;
  std::vector<EventChunk> chunks_; // where they are known: kLeafChunks of them are a leaf
};

} // namespace msleaks::analysis::inline trace
