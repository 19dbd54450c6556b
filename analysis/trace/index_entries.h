// A chunk's place and header as an entry of an index. It stores the difference to the entry before.
#pragma once

#include "analysis/trace/chunk.h"

#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace msleaks::analysis::inline trace {

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
  // Returns false if no EntryWriter can have written the payload for a file of this size.
  bool read(std::span<const uint8_t> payload, std::vector<ChunkPlace> &chunks);

private:
  uint64_t file_end_, end_ = 0, time_ = 0;
};

// The damage that was found in a trace, each damage once. Several threads may add notes at the same time.
class DamageNotes {
public:
  void add(const std::vector<std::string> &notes);
  // Adds at most one note for each chunk or leaf, which its offset in the file identifies.
  void add(const ChunkPlace &place, const std::string &what);
  void add(uint64_t offset, const std::vector<std::string> &notes);
  std::vector<std::string> list() const;

private:
  mutable std::mutex lock_;
  std::set<uint64_t> known_;
  std::vector<std::string> notes_;
};

} // namespace msleaks::analysis::inline trace
