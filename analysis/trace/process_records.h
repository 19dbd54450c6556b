// A trace's records about its processes. A later record replaces an earlier one about the same process.
#pragma once

#include "analysis/trace/index_entries.h"
#include "analysis/trace/index_root.h"
#include "analysis/trace/trace_writer.h"

#include <map>
#include <optional>
#include <vector>

namespace msleaks::analysis::inline trace {

// Reads the record from the payload. If the payload makes no sense, notes the damage and returns nothing.
std::optional<ProcessStart> readStart(const ChunkPlace &place, std::span<const uint8_t> payload, DamageNotes &damage);
std::optional<ProcessEnd> readEnd(const ChunkPlace &place, std::span<const uint8_t> payload, DamageNotes &damage);
std::optional<StreamAccount> readAccount(const ChunkPlace &place, std::span<const uint8_t> payload,
                                         DamageNotes &damage);

class ProcessRecords {
public:
  static constexpr ChunkKinds kKinds = kindBit(ChunkKind::ProcessStart) | kindBit(ChunkKind::ProcessEnd);

  // Takes a chunk of one of these kinds.
  void take(const ChunkPlace &place, std::span<const uint8_t> payload, DamageNotes &damage);

  // Sorted by process.
  std::vector<ProcessStart> starts() const { return listOf(starts_); }
  std::vector<ProcessEnd> ends() const { return listOf(ends_); }

private:
  template <class Key, class Metadata> static std::vector<Metadata> listOf(const std::map<Key, Metadata> &all) {
    std::vector<Metadata> list;
    for (const auto &[key, metadata] : all)
      list.push_back(metadata);
    return list;
  }

  std::map<uint32_t, ProcessStart> starts_;
  std::map<uint32_t, ProcessEnd> ends_;
};

} // namespace msleaks::analysis::inline trace
