// What the kernel's mapping calls do to memory: one judgement for the callbacks and for the hooks, so that a call is
// recorded alike whoever sees it.
#pragma once

#include "msleaks/abi/events.h"

#include <cstdint>
#include <sys/mman.h>

namespace msleaks::runtime {

// PROT_NONE holds addresses and no memory; a file's pages are the file's.
constexpr uint16_t mappingFlags(int protection, int flags) {
  if ((flags & MAP_ANONYMOUS) == 0)
    return abi::kReserve | abi::kFile;
  return protection == PROT_NONE ? abi::kReserve : 0;
}

// May show memory that others show too: if the file is nothing else.
constexpr bool mayShare(int protection, int flags) {
  const int type = flags & MAP_TYPE;
  return protection != PROT_NONE && (flags & MAP_ANONYMOUS) == 0 && (type == MAP_SHARED || type == MAP_SHARED_VALIDATE);
}

// Otherwise the kernel refuses, and nothing is given back.
constexpr bool munmapTakes(uint64_t address, uint64_t size, uint64_t page_bytes) {
  return address % page_bytes == 0 && size != 0;
}

// Without an old size the pages are mapped a second time, with MREMAP_DONTUNMAP the old ones stay; a new size of 0 and
// an address inside a page are refused.
constexpr bool mremapTakes(uint64_t address, uint64_t old_size, uint64_t new_size, int flags, uint64_t page_bytes) {
  return address % page_bytes == 0 && old_size != 0 && new_size != 0 && (flags & MREMAP_DONTUNMAP) == 0;
}

} // namespace msleaks::runtime
