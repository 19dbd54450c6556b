// The time of a copy to a device, which a fix would save.
#pragma once

#include <cstdint>

namespace msleaks::analysis::inline analyzers {

// Estimated: as fast as a copy over PCI Express 3, slower than most fills.
constexpr uint64_t copyNs(uint64_t bytes) {
  constexpr uint64_t kBytesPerNs = 10;
  return bytes / kBytesPerNs;
}

} // namespace msleaks::analysis::inline analyzers
