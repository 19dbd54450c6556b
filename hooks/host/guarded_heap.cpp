// Guards some blocks of the C heap.
#include "host/guarded_pages.h"

#include <cstring>
#include <sys/syscall.h>
#include <unistd.h>

namespace msleaks::hooks {
namespace {

constinit RealFunctions behind{}; // the functions that the functions of this file call

template <class Otherwise> void *guarded(uint64_t bytes, uint64_t alignment, Otherwise otherwise) noexcept {
  void *block = isWanted(bytes) ? makeGuarded(bytes, alignment) : nullptr;
  return block != nullptr ? block : otherwise();
}

void *guardedMalloc(size_t bytes) noexcept {
  return guarded(bytes, 0, [=] { return behind.malloc(bytes); });
}

// New pages contain zeros, so a guarded block need not be filled.
void *guardedCalloc(size_t count, size_t bytes) noexcept {
  uint64_t all = 0;
  const bool is_too_much = __builtin_mul_overflow(count, bytes, &all);
  return guarded(is_too_much ? UINT64_MAX : all, 0, [=] { return behind.calloc(count, bytes); });
}

void guardedFree(void *block) noexcept {
  if (isGuarded(block))
    releaseGuarded(block);
  else
    behind.free(block);
}

// Moves a guarded block to a block that is not guarded.
void *moveOut(void *old, size_t bytes) noexcept {
  void *block = behind.malloc(bytes);
  if (block == nullptr)
    return nullptr;
  const GuardedHeader &header = headerOf(old);
  tellTracer(abi::GuardCall::Gone, addressOf(old));
  openPages(old);
  std::memcpy(block, old, bytes < header.bytes ? bytes : header.bytes);
  releaseGuarded(old);
  return block;
}

// Moves a guarded block to a new guarded block. The pages themselves move, so pages that were never touched stay
// untouched.
void *moveAlong(void *old, size_t bytes) noexcept {
  void *block = makeOpen(bytes, 0);
  if (block == nullptr)
    return nullptr;
  const ErrnoKept kept;
  const uint64_t old_bytes = headerOf(old).pages_bytes, new_bytes = headerOf(block).pages_bytes;
  const uint64_t both = old_bytes < new_bytes ? old_bytes : new_bytes;
  openPages(old); // mremap moves only pages of one protection
  if (::syscall(SYS_mremap, old, both, both, MREMAP_MAYMOVE | MREMAP_FIXED, block) == -1)
    std::memcpy(block, old, both);
  closePages(block);
  tellTracer(abi::GuardCall::Moved, addressOf(old), addressOf(block), bytes);
  releaseGuarded(old);
  return block;
}

void *moveIn(void *old, size_t bytes) noexcept {
  void *block = makeOpen(bytes, 0);
  if (block == nullptr)
    return nullptr;
  const uint64_t old_bytes = old != nullptr ? ::malloc_usable_size(old) : 0;
  const uint64_t both = old_bytes < bytes ? old_bytes : bytes;
  if (both != 0)
    std::memcpy(block, old, both);
  closePages(block);
  tellTracer(abi::GuardCall::Born, addressOf(block), bytes, both);
  behind.free(old);
  return block;
}

void *guardedRealloc(void *old, size_t bytes) noexcept {
  if (!isGuarded(old)) {
    void *block = bytes != 0 && isWanted(bytes) ? moveIn(old, bytes) : nullptr;
    return block != nullptr ? block : behind.realloc(old, bytes);
  }
  if (bytes == 0) { // as in glibc, this frees the block
    releaseGuarded(old);
    return nullptr;
  }
  void *block = isWanted(bytes) ? moveAlong(old, bytes) : nullptr;
  return block != nullptr ? block : moveOut(old, bytes);
}

void *guardedReallocarray(void *old, size_t count, size_t bytes) noexcept {
  uint64_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) {
    errno = ENOMEM;
    return nullptr;
  }
  return guardedRealloc(old, all);
}

bool isPowerOfTwo(size_t alignment) noexcept { return alignment != 0 && (alignment & (alignment - 1)) == 0; }

void *guardedAlignedAlloc(size_t alignment, size_t bytes) noexcept {
  const auto real = [=] { return behind.aligned_alloc(alignment, bytes); };
  return isPowerOfTwo(alignment) ? guarded(bytes, alignment, real) : real();
}

void *guardedMemalign(size_t alignment, size_t bytes) noexcept {
  const auto real = [=] { return behind.memalign(alignment, bytes); };
  return isPowerOfTwo(alignment) ? guarded(bytes, alignment, real) : real();
}

int guardedPosixMemalign(void **where, size_t alignment, size_t bytes) noexcept {
  void *block = isPowerOfTwo(alignment) && alignment % sizeof(void *) == 0
                    ? guarded(bytes, alignment, []() -> void * { return nullptr; })
                    : nullptr;
  if (block == nullptr)
    return behind.posix_memalign(where, alignment, bytes);
  *where = block;
  return 0;
}

void *guardedValloc(size_t bytes) noexcept {
  return guarded(bytes, 0, [=] { return behind.valloc(bytes); });
}
void *guardedPvalloc(size_t bytes) noexcept {
  return guarded(bytes, 0, [=] { return behind.pvalloc(bytes); });
}

} // namespace

void guardHeap(RealFunctions &real) noexcept {
  behind = real;
  real.malloc = guardedMalloc;
  real.calloc = guardedCalloc;
  real.free = guardedFree;
  real.realloc = guardedRealloc;
  real.reallocarray = guardedReallocarray;
  real.aligned_alloc = guardedAlignedAlloc;
  real.memalign = guardedMemalign;
  real.posix_memalign = guardedPosixMemalign;
  real.valloc = guardedValloc;
  real.pvalloc = guardedPvalloc;
}

} // namespace msleaks::hooks
