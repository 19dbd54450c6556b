#include "devices/told_blocks.h"

#include "host/guarded_pages.h"

#include <atomic>

namespace msleaks::hooks {
namespace {

constinit RealFunctions behind{}; // the functions that the functions of this file call
constinit uint64_t least_bytes = 0, most_bytes = 0;

// Addresses of the blocks that the tracer watches; 0 = free entry. The runtime watches the same number of blocks
// (runtime/src/watch.cpp).
constexpr uint32_t kMostWatched = 64;
constinit std::atomic<uint64_t> watched[kMostWatched]{};
constinit std::atomic<bool> watches{false};

void remember(uint64_t address) noexcept {
  watches.store(true, std::memory_order_relaxed);
  for (std::atomic<uint64_t> &entry : watched)
    if (uint64_t none = 0; entry.compare_exchange_strong(none, address, std::memory_order_relaxed))
      return;
}

void *told(void *block, uint64_t bytes) noexcept {
  if (block != nullptr && block != MAP_FAILED && bytes >= least_bytes && bytes <= most_bytes &&
      tellTracer(abi::GuardCall::Made, addressOf(block), bytes) == 1)
    remember(addressOf(block));
  return block;
}

// Call this before the block is freed or moved. The tracer has made its pages read-only, and mremap moves only pages of
// one protection.
void tellGone(const void *block) noexcept {
  if (block == nullptr || !watches.load(std::memory_order_relaxed))
    return;
  for (std::atomic<uint64_t> &entry : watched)
    if (uint64_t address = addressOf(block); entry.compare_exchange_strong(address, 0, std::memory_order_relaxed))
      tellTracer(abi::GuardCall::Unwatch, addressOf(block));
}

void *toldMalloc(size_t bytes) noexcept { return told(behind.malloc(bytes), bytes); }
void *toldCalloc(size_t count, size_t bytes) noexcept { return told(behind.calloc(count, bytes), count * bytes); }
void *toldAlignedAlloc(size_t alignment, size_t bytes) noexcept {
  return told(behind.aligned_alloc(alignment, bytes), bytes);
}
void *toldMemalign(size_t alignment, size_t bytes) noexcept { return told(behind.memalign(alignment, bytes), bytes); }
void *toldValloc(size_t bytes) noexcept { return told(behind.valloc(bytes), bytes); }
void *toldPvalloc(size_t bytes) noexcept { return told(behind.pvalloc(bytes), bytes); }

int toldPosixMemalign(void **where, size_t alignment, size_t bytes) noexcept {
  const int status = behind.posix_memalign(where, alignment, bytes);
  if (status == 0)
    told(*where, bytes);
  return status;
}

void toldFree(void *block) noexcept {
  tellGone(block);
  behind.free(block);
}

void *toldRealloc(void *old, size_t bytes) noexcept {
  tellGone(old);
  return told(behind.realloc(old, bytes), bytes);
}

void *toldReallocarray(void *old, size_t count, size_t bytes) noexcept {
  uint64_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) {
    errno = ENOMEM;
    return nullptr;
  }
  return toldRealloc(old, all);
}

void *toldMmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
  return told(behind.mmap(address, bytes, protection, flags, file, offset), bytes);
}
void *toldMmap64(void *address, size_t bytes, int protection, int flags, int file, off64_t offset) noexcept {
  return told(behind.mmap64(address, bytes, protection, flags, file, offset), bytes);
}
int toldMunmap(void *address, size_t bytes) noexcept {
  tellGone(address);
  return behind.munmap(address, bytes);
}

} // namespace

void tellBlocks(RealFunctions &real) noexcept {
  const char *sizes = ::getenv(abi::kTellVariable);
  if (sizes == nullptr)
    return;
  char *rest = nullptr;
  least_bytes = std::strtoull(sizes, &rest, 10);
  most_bytes = *rest == '-' ? std::strtoull(rest + 1, nullptr, 10) : 0;
  if (least_bytes == 0 || most_bytes < least_bytes || tellTracer(abi::GuardCall::Listen, 0) != 1)
    return;
  behind = real;
  real.malloc = toldMalloc;
  real.calloc = toldCalloc;
  real.free = toldFree;
  real.realloc = toldRealloc;
  real.reallocarray = toldReallocarray;
  real.aligned_alloc = toldAlignedAlloc;
  real.memalign = toldMemalign;
  real.posix_memalign = toldPosixMemalign;
  real.valloc = toldValloc;
  real.pvalloc = toldPvalloc;
  real.mmap = toldMmap;
  real.mmap64 = toldMmap64;
  real.munmap = toldMunmap;
}

} // namespace msleaks::hooks
