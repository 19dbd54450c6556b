// A sample of the small objects of a Python program. Python takes such objects from arenas of its own. One request of
// about every 16 KiB goes to malloc instead, and is recorded as a block of the heap `python`.
#pragma once

#include <cstdint>

namespace msleaks::abi {

// The largest request that Python takes from an arena.
inline constexpr uint64_t kMostSampledBytes = 512;
// The mean number of bytes from one sampled request to the next one of a thread. The distance is exponentially
// distributed. So a request of S bytes is sampled with the probability 1 - exp(-S / kSampleBytes).
inline constexpr uint64_t kSampleBytes = 16 << 10;
// The sizes of requests are rounded up to this unit. The field `device` of a sampled block's event contains the
// number of units. If the block grows later, the number stays the same, because the block was chosen at that size.
inline constexpr uint64_t kSampleUnitBytes = 16;

constexpr uint32_t sampleUnitsOf(uint64_t bytes) {
  return static_cast<uint32_t>((bytes + kSampleUnitBytes - 1) / kSampleUnitBytes);
}

} // namespace msleaks::abi
