// A chunk's place and header as a line of an index: told by the difference to the chunk before.
#pragma once

#include "analysis/trace/chunk.h"

#include <vector>

namespace msleaks::analysis::trace {

struct ChunkPlace {
  uint64_t offset; // of the header in the file
  ChunkHeader header;
  uint64_t end() const { return offset + sizeof header + header.stored_bytes; }
};

class EntryWriter {
public:
  void add(const ChunkPlace &place);
  std::span<const uint8_t> written() const { return entries_.written(); }

private:
  ByteWriter entries_;
  uint64_t previous_end_ = 0, previous_time_ = 0;
};

// Reads payloads of entries, one payload after the other.
class EntryReader {
public:
  explicit EntryReader(uint64_t file_end) : file_end_(file_end) {}
  // False when they are not what an EntryWriter writes for a file of that size.
  bool read(std::span<const uint8_t> payload, std::vector<ChunkPlace> &chunks);

private:
  uint64_t file_end_, end_ = 0, time_ = 0;
};

} // namespace msleaks::analysis::trace
