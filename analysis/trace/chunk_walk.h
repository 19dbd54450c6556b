// Goes through a file from chunk to chunk; where there is none, on to the next place that looks like one.
#pragma once

#include "analysis/trace/index_entries.h"

#include <optional>
#include <string>
#include <vector>

namespace msleaks::analysis::trace {

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

} // namespace msleaks::analysis::trace
