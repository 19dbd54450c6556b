// A row of a table in bytes that are aligned to nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace msleaks::analysis {

// The caller has checked that it lies in there.
template <class Row> Row copyRow(std::span<const std::byte> bytes, uint64_t offset) {
  Row row;
  std::memcpy(&row, bytes.data() + offset, sizeof row);
  return row;
}

} // namespace msleaks::analysis
