// Decides which memory a mapping call of the kernel (mmap, mremap, munmap) allocates or frees. Callbacks and hooks
// share this code, so both record the same events for a call.
#pragma once

#include "msleaks/abi/events.h"

#include <cstdint>
#include <sys/mman.h>

namespace msleaks::runtime {

// Whether a mapping with these flags usually has untouched pages. Shared memory may be touched by other processes. A
// stack has room to grow. MAP_NORESERVE means that the program expects to leave much of the memory untouched.
constexpr bool isSparse(int flags) {
  return (flags & MAP_TYPE) != MAP_PRIVATE || (flags & (MAP_STACK | MAP_GROWSDOWN | MAP_NORESERVE)) != 0;
}

// Returns the event flags of a mapping. PROT_NONE reserves addresses without memory. The pages of a mapped file are not
// the process's own memory.
constexpr uint16_t mappingFlags(int protection, int flags) {
  if ((flags & MAP_ANONYMOUS) == 0)
    return abi::kReserve | abi::kFile;
  if (protection == PROT_NONE)
    return abi::kReserve;
  return isSparse(flags) ? abi::kListed : 0;
}

// Whether other mappings may refer to the same memory. Some types of files exclude this; the function does not check
// the type.
constexpr bool mayShare(int protection, int flags) {
  const int type = flags & MAP_TYPE;
  return protection != PROT_NONE && (flags & MAP_ANONYMOUS) == 0 && (type == MAP_SHARED || type == MAP_SHARED_VALIDATE);
}

// Whether munmap unmaps the range. Otherwise the kernel refuses the call.
constexpr bool munmapTakes(uint64_t address, uint64_t size, uint64_t page_bytes) {
  return address % page_bytes == 0 && size != 0;
}

// Whether mremap unmaps the old range. If the old size is 0, mremap maps the pages a second time. With
// MREMAP_DONTUNMAP, the old range stays mapped. The kernel refuses a new size of 0, and an address that is not the
// beginning of a page.
constexpr bool mremapTakes(uint64_t address, uint64_t old_size, uint64_t new_size, int flags, uint64_t page_bytes) {
  return address % page_bytes == 0 && old_size != 0 && new_size != 0 && (flags & MREMAP_DONTUNMAP) == 0;
}

} // namespace msleaks::runtime
