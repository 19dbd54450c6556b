// Finds all chunks of a trace: by its index, or by walking from header to header.
#pragma once

#include "analysis/trace/chunk.h"
#include "analysis/trace/index_entries.h"
#include "analysis/trace/index_root.h"

#include <optional>
#include <string>
#include <vector>

namespace msleaks::analysis::inline trace {

// The index of a file. It comes from the file's end, or from a walk if there is no index at the end.
struct ChunkIndex {
  std::optional<IndexRoot> root;  // root of an index of two levels, whose leaves list the chunks
  std::vector<ChunkPlace> chunks; // if there is no root: all chunks except Index and Trailer
  std::vector<std::string> damage;
  uint64_t end = 0;    // the byte after the last whole chunk
  bool closed = false; // the file ends with a trailer
};

// Whether the file's header is undamaged. Fails if the file is no trace, or if a newer version wrote it.
Result<bool> checkFileHeader(const InputFile &file);

// Fails only if the file is no trace, a newer version wrote it, or it cannot be read.
Result<ChunkIndex> readIndex(const InputFile &file);

// The same, but reads the leaves, too: the result lists all chunks, in the order of the file.
Result<ChunkIndex> readWholeIndex(const InputFile &file);

// Returns the chunks of a leaf. If the leaf is damaged, finds its chunks by walking through its part of the file, and
// notes this in `damage`.
Result<std::vector<ChunkPlace>> readLeaf(const InputFile &file, const LeafPlace &leaf,
                                         std::vector<std::string> &damage);

// Walks from chunk to chunk. If no chunk follows, searches for the next bytes that look like a chunk.
class ChunkWalk {
public:
  // Finds the chunks that begin and end within [begin, end).
  ChunkWalk(const InputFile &file, uint64_t begin, uint64_t end)
      : file_(file), lost_from_(begin), end_(end), window_(kWindowBytes) {}

  // Returns the next chunk of any kind, or nothing at the end. Notes in `damage` the bytes that it skipped.
  Result<std::optional<ChunkPlace>> next(std::vector<std::string> &damage);

  // The same for a file that grows: incomplete bytes at the end may become a chunk, so they are not noted as damage.
  Result<std::optional<ChunkPlace>> nextWhole(std::vector<std::string> &damage);
  void growTo(uint64_t end);
  uint64_t position() const { return lost_from_; } // the byte after the last chunk

private:
  static constexpr size_t kWindowBytes = 256 << 10;
  Result<std::optional<ChunkPlace>> find(uint64_t at);
  Result<std::span<const uint8_t>> bytesAt(uint64_t at);
  void noteLost(uint64_t until, std::vector<std::string> &damage);

  const InputFile &file_;
  uint64_t lost_from_, end_; // lost_from_: after the last chunk. end_: where the walk ends
  std::vector<uint8_t> window_;
  uint64_t window_begin_ = 0;
  size_t window_size_ = 0;
  std::string torn_;
};

} // namespace msleaks::analysis::inline trace
