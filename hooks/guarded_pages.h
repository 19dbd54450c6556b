// The pages of guarded blocks, and what is told about them (msleaks/abi/guarded.h).
//
// A guarded block lies in a range of addresses that is ours alone and never used twice:
//
//   … | a page: what we know of the block, and what malloc keeps in front of a block | the block's pages | …
//
// Its pages are closed (PROT_NONE) from its birth on. A thread that touches one stops; the tracer notes who it was,
// opens that part and lets it go on. So the program does what it always does.
#pragma once

#include "real.h"

#include "msleaks/abi/guarded.h"
#include "msleaks/runtime/errno_kept.h"

namespace msleaks::hooks {

// In front of the block. The last two as glibc has them for a block that is a mapping: malloc_usable_size reads them.
struct GuardedHeader {
  uint64_t bytes;        // asked for
  uint64_t pages_bytes;  // of the block's pages
  uint64_t before_bytes; // from the mapping's begin to these two
  uint64_t size;
};
static_assert(sizeof(GuardedHeader) == 32);

using runtime::ErrnoKept;

inline uint64_t addressOf(const void *block) noexcept { return reinterpret_cast<uint64_t>(block); }

inline bool isGuarded(const void *block) noexcept { return addressOf(block) - abi::kGuardedBegin < abi::kGuardedBytes; }
inline const GuardedHeader &headerOf(const void *block) noexcept {
  return *reinterpret_cast<const GuardedHeader *>(addressOf(block) - sizeof(GuardedHeader));
}

// The tracer's answer; negative: there is none.
long tellTracer(abi::GuardCall, uint64_t first, uint64_t second = 0, uint64_t third = 0) noexcept;

// Under a tracer. False: the range cannot be had, as under `ulimit -v`. Smaller blocks are not offered.
bool reserveGuardedRange(uint64_t least_bytes) noexcept;

// Whether the tracer wants a block that is made now.
bool isWanted(uint64_t bytes) noexcept;

// System calls, not hooks: there is nothing to record. errno stays.
bool setProtection(uint64_t address, uint64_t bytes, int protection) noexcept;
// Pages that nobody can touch; their addresses stay ours.
bool mapClosed(uint64_t address, uint64_t bytes, int flags) noexcept;

// Null: there is no room, which the tracer is told.
void *makeOpen(uint64_t bytes, uint64_t alignment) noexcept; // the tracer does not know it yet
void *makeGuarded(uint64_t bytes, uint64_t alignment) noexcept;
void closePages(void *block) noexcept;
void openPages(void *block) noexcept;
void releaseGuarded(void *block) noexcept;

// Put functions of ours in the place of the real ones, which they call for all blocks that are not guarded.
void guardHeap(RealFunctions &) noexcept;
void guardMappings(RealFunctions &) noexcept;

} // namespace msleaks::hooks
