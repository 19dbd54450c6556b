// A chunk's place and header as a line of an index: told by the difference to the chunk before.
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
  // False when they are not what an EntryWriter writes for a file of that size.
  bool read(std::span<const uint8_t> payload, std::vector<ChunkPlace> &chunks);

private:
  uint64_t file_end_, end_ = 0, time_ = 0;
};

// What was found damaged in a trace, each thing said once. May be told by several threads at once.
class DamageNotes {
public:
  void add(const std::vector<std::string> &notes);
  // One note for each chunk, or for each leaf of an index: by where it is in the file.
  void add(const ChunkPlace &place, const std::string &what);
  void add(uint64_t offset, const std::vector<std::string> &notes);
  std::vector<std::string> list() const;

private:
  mutable std::mutex lock_;
  std::set<uint64_t> known_;
  std::vector<std::string> notes_;
};

} // namespace msleaks::analysis::inline trace
