// Where every chunk of a trace is: as an index says it, or found by walking from header to header.
#pragma once

#include "analysis/trace/chunk.h"
#include "analysis/trace/index_entries.h"
#include "analysis/trace/index_root.h"

#include <optional>
#include <string>
#include <vector>

namespace msleaks::analysis::inline trace {

// The index of a file, from its end, or from a walk where the end has none.
struct ChunkIndex {
  std::optional<IndexRoot> root;  // root of an index of two levels, whose leaves have the chunks
  std::vector<ChunkPlace> chunks; // else: all, without Index and Trailer
  std::vector<std::string> damage;
  uint64_t end = 0;    // behind the last whole chunk
  bool closed = false; // the file ends with a trailer
};

// Whether the file's header is whole. Fails for what is no trace of ours, or too new.
Result<bool> checkFileHeader(const InputFile &file);

// Fails only for a file that is no trace or that a newer version wrote, and when the disk does.
Result<ChunkIndex> readIndex(const InputFile &file);

// The same with the chunks of the leaves read, in the order of the file: for who wants each of them.
Result<ChunkIndex> readWholeIndex(const InputFile &file);

// The chunks of a leaf. Where it is damaged they are found by walking through its part of the file, and `damage` says
// so.
Result<std::vector<ChunkPlace>> readLeaf(const InputFile &file, const LeafPlace &leaf,
                                         std::vector<std::string> &damage);

// Goes through a file from chunk to chunk; where there is none, on to the next place that looks like one.
class ChunkWalk {
public:
  // Finds the chunks that begin and end within [begin, end).
  ChunkWalk(const InputFile &file, uint64_t begin, uint64_t end)
      : file_(file), lost_from_(begin), end_(end), window_(kWindowBytes) {}

  // The next chunk, of whatever kind; nothing at the end. What was passed over is said to damage().
  Result<std::optional<ChunkPlace>> next(std::vector<std::string> &damage);

  // The same for a file that grows: what is at the end and no whole chunk may become one.
  Result<std::optional<ChunkPlace>> nextWhole(std::vector<std::string> &damage);
  void growTo(uint64_t end);
  uint64_t position() const { return lost_from_; } // behind the last chunk

private:
  static constexpr size_t kWindowBytes = 256 << 10;
  Result<std::optional<ChunkPlace>> find(uint64_t at);
  Result<std::span<const uint8_t>> bytesAt(uint64_t at);
  void noteLost(uint64_t until, std::vector<std::string> &damage);

  const InputFile &file_;
  uint64_t lost_from_, end_; // behind the last chunk; of where to look
  std::vector<uint8_t> window_;
  uint64_t window_begin_ = 0;
  size_t window_size_ = 0;
  std::string torn_;
};

} // namespace msleaks::analysis::inline trace
