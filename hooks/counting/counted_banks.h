// The counters of a module in a buffer on a device, and the process's copies of them.
#pragma once

#include "counting/counted_kernels.h"

namespace msleaks::hooks {

struct CountedBanks {
  CountedModule *module;
  abi::DeviceCounts *content; // copy of the whole buffer: its initial content, later the content that was just read
  uint64_t *last;             // the counters as addRead saw them last, in the order of counters()
  uint64_t bytes;             // size of the buffer
  uint64_t pages_bytes;
  uint32_t banks;

  uint64_t *counters() const noexcept { return reinterpret_cast<uint64_t *>(content + 1); }
  uint64_t counterBytes() const noexcept { return bytes - sizeof(abi::DeviceCounts); }
};

// `wave` is the value for DeviceCounts::wave. Returns false if there is no memory.
bool makeBanks(CountedBanks &banks, CountedModule &module, const abi::DeviceChoice &choice, uint32_t wave) noexcept;
void dropBanks(CountedBanks &banks) noexcept;

// Adds the growth of the counters since the last call to the module's counts. Read the buffer into counters() before.
void addRead(CountedBanks &banks) noexcept;

} // namespace msleaks::hooks
