// Counters of a module in a buffer of a device, as this process keeps them.
#pragma once

#include "counted_kernels.h"

namespace msleaks::hooks {

struct CountedBanks {
  CountedModule *module;
  abi::DeviceCounts *content; // of the whole buffer: what it begins as, and then as it is read
  uint64_t *last;             // what was read last, as counters()
  uint64_t bytes;             // of the buffer
  uint64_t pages_bytes;
  uint32_t banks;

  uint64_t *counters() const noexcept { return reinterpret_cast<uint64_t *>(content + 1); }
  uint64_t counterBytes() const noexcept { return bytes - sizeof(abi::DeviceCounts); }
};

// `wave`: DeviceCounts::wave. False: there is no memory.
bool makeBanks(CountedBanks &banks, CountedModule &module, const abi::DeviceChoice &choice, uint32_t wave) noexcept;
void dropBanks(CountedBanks &banks) noexcept;

// Adds to the module's counts what has come since they were read last; counters() were just read.
void addRead(CountedBanks &banks) noexcept;

} // namespace msleaks::hooks
