// The pages of guarded blocks, and the messages to the tracer about them (msleaks/abi/guarded.h).
//
// A guarded block lies in a range of addresses that only msleaks uses. No address is used twice:
//
//   … | a page that ends with a GuardedHeader | the block's pages | …
//
// The block's pages are inaccessible (PROT_NONE) as soon as the block is allocated. If a thread touches one, the thread
// stops. The tracer notes the thread, makes this part accessible and lets the thread continue. So the program works as
// usual.
#pragma once

#include "host/real.h"

#include "msleaks/abi/guarded.h"
#include "msleaks/runtime/errno_kept.h"

namespace msleaks::hooks {

// Lies just before the block. The last two fields have the content that glibc gives them for a block that is a mapping
// of its own: malloc_usable_size reads them.
struct GuardedHeader {
  uint64_t bytes;        // size that the program asked for
  uint64_t pages_bytes;  // size of the block's pages
  uint64_t before_bytes; // from the start of the mapping to this field
  uint64_t size;
};
static_assert(sizeof(GuardedHeader) == 32);

using runtime::ErrnoKept;

inline uint64_t addressOf(const void *block) noexcept { return reinterpret_cast<uint64_t>(block); }

inline bool isGuarded(const void *block) noexcept { return addressOf(block) - abi::kGuardedBegin < abi::kGuardedBytes; }
inline const GuardedHeader &headerOf(const void *block) noexcept {
  return *reinterpret_cast<const GuardedHeader *>(addressOf(block) - sizeof(GuardedHeader));
}

// Returns the tracer's answer; negative: there is no tracer.
long tellTracer(abi::GuardCall, uint64_t first, uint64_t second = 0, uint64_t third = 0) noexcept;

// Reserves the range of addresses. Only blocks of at least `least_bytes` are offered to the tracer. False: the range is
// not available, for example under `ulimit -v`.
bool reserveGuardedRange(uint64_t least_bytes) noexcept;

// Asks the tracer whether to guard a block of this size, which is about to be allocated.
bool isWanted(uint64_t bytes) noexcept;

// These functions make the system call directly, so the hooks record nothing. errno stays unchanged.
bool setProtection(uint64_t address, uint64_t bytes, int protection) noexcept;
// Maps inaccessible pages, so that nobody else gets their addresses.
bool mapClosed(uint64_t address, uint64_t bytes, int flags) noexcept;

// Allocate a block. Null: there is no room, and the tracer was told.
void *makeOpen(uint64_t bytes, uint64_t alignment) noexcept; // accessible; the tracer does not know the block yet
void *makeGuarded(uint64_t bytes, uint64_t alignment) noexcept;
void closePages(void *block) noexcept;
void openPages(void *block) noexcept;
void releaseGuarded(void *block) noexcept;

// Replace the real functions by functions that guard some blocks. For all other blocks they call the real functions.
void guardHeap(RealFunctions &) noexcept;
void guardMappings(RealFunctions &) noexcept;

} // namespace msleaks::hooks
