// Where every chunk of a trace is: read from the index at its end, or found by walking from header to header.
#pragma once

#include "trace/chunk.h"

#include <string>
#include <vector>

namespace msleaks::analysis::trace {

struct ChunkPlace {
  uint64_t offset; // of the header in the file
  ChunkHeader header;
  uint64_t end() const { return offset + sizeof header + header.stored_bytes; }
};

// An index that is larger than this goes into several chunks, one behind the other.
inline constexpr uint64_t kMaxIndexPartBytes = 256u << 20;

// The payloads of the Index chunks, grown while chunks are written.
class IndexWriter {
public:
  explicit IndexWriter(uint64_t part_bytes = kMaxIndexPartBytes) : part_bytes_(part_bytes) {}
  void add(const ChunkPlace &place);
  std::vector<std::span<const uint8_t>> parts() const;

private:
  uint64_t part_bytes_;
  ByteWriter entries_;
  std::vector<size_t> part_begins_; // in entries_, but for the first
  uint64_t previous_end_ = 0, previous_time_ = 0;
};

// What is in a file.
struct ChunkIndex {
  std::vector<ChunkPlace> chunks; // without Index and Trailer
  std::vector<std::string> damage;
  uint64_t end = 0;    // behind the last whole chunk
  bool closed = false; // the file ends with a trailer
};

// Fails only for a file that is no trace or that a newer version wrote, and when the disk does.
Result<ChunkIndex> readIndex(const InputFile &file);

} // namespace msleaks::analysis::trace
