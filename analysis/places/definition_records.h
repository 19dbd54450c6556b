// Walks through the records of a .defs file (abi/definitions.h), which may be damaged.
#pragma once

#include "msleaks/abi/definitions.h"
#include "msleaks/abi/site_table.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace msleaks::analysis::inline places {

struct DefinitionRecord {
  uint64_t bytes = 0; // with header and padding, as the header says; 0 = no record begins here
  bool whole = false; // the body is complete and its checksum is right; padding may be missing
  abi::DefinitionKind kind{};
  std::span<const std::byte> body;
};

// Reads the record at the front of `records`.
inline DefinitionRecord frontDefinition(std::span<const std::byte> records) {
  abi::DefinitionHeader header;
  if (records.size() < sizeof header)
    return {};
  std::memcpy(&header, records.data(), sizeof header);
  if (header.magic != abi::kDefinitionMagic)
    return {};
  DefinitionRecord record;
  record.bytes = sizeof header + ((uint64_t{header.bytes} + 7) & ~uint64_t{7});
  if (header.bytes > records.size() - sizeof header)
    return record;
  record.kind = header.kind;
  record.body = records.subspan(sizeof header, header.bytes);
  const auto *body = reinterpret_cast<const unsigned char *>(record.body.data());
  record.whole = abi::fnv1a32(body, record.body.size()) == header.checksum;
  return record;
}

enum class RecordsEnd { Whole, Damaged };

// Calls f(kind, body) for each record. Stops at a record that is cut off, or whose checksum is wrong.
template <class F> RecordsEnd forEachDefinition(std::span<const std::byte> records, F &&f) {
  while (!records.empty()) {
    const DefinitionRecord record = frontDefinition(records);
    if (!record.whole)
      return RecordsEnd::Damaged;
    f(record.kind, record.body);
    records = records.subspan(std::min<uint64_t>(record.bytes, records.size()));
  }
  return RecordsEnd::Whole;
}

} // namespace msleaks::analysis::inline places
