// Walks the records of a .defs file (abi/definitions.h) without trusting them.
#pragma once

#include "msleaks/abi/definitions.h"
#include "msleaks/abi/site_table.h"

#include <cstddef>
#include <cstring>
#include <span>

namespace msleaks::analysis {

enum class RecordsEnd { Whole, Damaged };

// Calls f(kind, body) for each record; stops at one that is cut off or whose checksum is wrong.
template <class F> RecordsEnd forEachDefinition(std::span<const std::byte> records, F &&f) {
  while (!records.empty()) {
    abi::DefinitionHeader header;
    if (records.size() < sizeof header)
      return RecordsEnd::Damaged;
    std::memcpy(&header, records.data(), sizeof header);
    records = records.subspan(sizeof header);
    if (header.magic != abi::kDefinitionMagic || header.bytes > records.size())
      return RecordsEnd::Damaged;
    const auto body = records.first(header.bytes);
    if (abi::fnv1a32(reinterpret_cast<const unsigned char *>(body.data()), body.size()) != header.checksum)
      return RecordsEnd::Damaged;
    f(header.kind, body);
    const size_t padded = (size_t{header.bytes} + 7) & ~size_t{7};
    records = records.subspan(padded < records.size() ? padded : records.size());
  }
  return RecordsEnd::Whole;
}

} // namespace msleaks::analysis
