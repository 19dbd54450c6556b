// Builds the index of a trace while the trace is written. Full leaves go to the file at once, the other leaves and the
// root at the end. Keeps in memory the leaves that are not full, the root, and the sums of the streams.
#pragma once

#include "analysis/trace/chunk_index.h"
#include "analysis/trace/per_stream.h"

#include <deque>
#include <map>

namespace msleaks::analysis::inline trace {

// Chunks in a leaf. A report about a window reads each leaf that overlaps the window, and opening a trace reads 40
// bytes for each leaf. With 1024 chunks a leaf has 30 KiB and covers 32 MiB of the trace, so both are cheap.
inline constexpr uint64_t kLeafChunks = 1024;

class IndexBuilder {
public:
  explicit IndexBuilder(uint64_t leaf_chunks = kLeafChunks) : leaf_chunks_(leaf_chunks) {}
  // Continues a trace that has this index.
  explicit IndexBuilder(const ChunkIndex &before);

  // Adds a chunk. If it changes events or their meaning, earlier checkpoints become invalid and are removed.
  void add(const ChunkPlace &place);
  void addCheckpoint(const CheckpointPlace &place) { checkpoints_.push_back(place); }
  // The time of the last checkpoint, or 0 if there is none.
  uint64_t lastCheckpointNs() const { return checkpoints_.empty() ? 0 : checkpoints_.back().time_ns; }

  // The leaves that are not in the file yet: first the full ones, then the others. Each has a LeafPlace without its
  // offset, and the payload of its chunk.
  struct OpenLeaf {
    LeafPlace place;
    EntryWriter entries;
  };
  std::vector<const OpenLeaf *> fullLeaves() const;
  std::vector<const OpenLeaf *> allLeaves() const;
  // The caller has written the full leaves to the file, at these offsets.
  void stored(const std::vector<uint64_t> &offsets);

  // Returns the root after all leaves are in the file: the leaves of allLeaves() are at these offsets.
  IndexRoot root(const std::vector<uint64_t> &offsets) const;

private:
  enum Group : unsigned { kEventChunks, kOpeningChunks, kMeaningChunks, kGroups };
  static Group groupOf(ChunkKind kind);
  void addToStream(const ChunkHeader &header);

  uint64_t leaf_chunks_;
  std::vector<LeafPlace> stored_;
  std::deque<OpenLeaf> full_;
  OpenLeaf open_[kGroups];
  // The sums of a stream's chunks. If all fields are 0, the stream has no chunk.
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
