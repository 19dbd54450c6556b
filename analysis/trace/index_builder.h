// The index of a trace that is being written: leaves go to the file as they fill up, what is left and the root at the
// end. Memory is that of the leaves that are not full, of the root, and of the streams' sums.
#pragma once

#include "analysis/trace/chunk_index.h"
#include "analysis/trace/per_stream.h"

#include <deque>
#include <map>

namespace msleaks::analysis::inline trace {

// A window of time reads the leaves that reach into it, and opening a trace 40 bytes for each leaf: at a thousand
// chunks both are small. It is 30 KiB, and 32 MiB of the trace.
inline constexpr uint64_t kLeafChunks = 1024;

class IndexBuilder {
public:
  explicit IndexBuilder(uint64_t leaf_chunks = kLeafChunks) : leaf_chunks_(leaf_chunks) {}
  // Goes on with a trace that has this index.
  explicit IndexBuilder(const ChunkIndex &before);

  // What changes which events come, or what they mean, ends the use of earlier checkpoints.
  void add(const ChunkPlace &place);
  void addCheckpoint(const CheckpointPlace &place) { checkpoints_.push_back(place); }
  // Of the last checkpoint; 0: there is none.
  uint64_t lastCheckpointNs() const { return checkpoints_.empty() ? 0 : checkpoints_.back().time_ns; }

  // Leaves that are not in the file: those that are full, then the others. Each is a LeafPlace without its offset, and
  // the payload of its chunk.
  struct OpenLeaf {
    LeafPlace place;
    EntryWriter entries;
  };
  std::vector<const OpenLeaf *> fullLeaves() const;
  std::vector<const OpenLeaf *> allLeaves() const;
  // The full leaves are in the file now, at these offsets.
  void stored(const std::vector<uint64_t> &offsets);

  // The root when all leaves are in the file, those of allLeaves() at these offsets.
  IndexRoot root(const std::vector<uint64_t> &offsets) const;

private:
  enum Group : unsigned { kEventChunks, kOpeningChunks, kMeaningChunks, kGroups };
  static Group groupOf(ChunkKind kind);
  void addToStream(const ChunkHeader &header);

  uint64_t leaf_chunks_;
  std::vector<LeafPlace> stored_;
  std::deque<OpenLeaf> full_;
  OpenLeaf open_[kGroups];
  // Of a stream's chunks; all 0: it has none.
  struct StreamSum {
    uint64_t events : 63 = 0;
    uint64_t repeated : 1 = 0;
    uint64_t stored_until = 0;
  };
  PerStream<StreamSum> streams_;
  std::map<uint32_t, uint64_t> definition_bytes_; // by process
  std::vector<CheckpointPlace> checkpoints_;
};

} // namespace msleaks::analysis::inline trace
