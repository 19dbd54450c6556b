// Mappings that the program makes itself, some of them guarded.
#include "guarded_pages.h"

#include "msleaks/runtime/page.h"

#include <atomic>
#include <cstdarg>

namespace msleaks::hooks {
namespace {

constinit RealFunctions behind{}; // what we stand in front of

constexpr int kAsksForMore = MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_SHARED | MAP_POPULATE | MAP_LOCKED | MAP_HUGETLB |
                             MAP_GROWSDOWN | MAP_STACK | MAP_32BIT;

bool isPlainMapping(int protection, int flags) noexcept {
  return protection == (PROT_READ | PROT_WRITE) && (flags & MAP_ANONYMOUS) != 0 && (flags & kAsksForMore) == 0;
}

// Guarded mappings, in any order: a program may unmap or protect a part of one.
constexpr uint32_t kMostMappings = 1024;
struct Mapping {
  std::atomic<uint64_t> begin, end; // 0: not there any more
};
constinit Mapping mappings[kMostMappings]{};
constinit std::atomic<uint32_t> mapping_count{0};

bool remember(const void *mapping) noexcept {
  const uint32_t at = mapping_count.fetch_add(1, std::memory_order_relaxed);
  if (at >= kMostMappings)
    return false;
  mappings[at].begin.store(addressOf(mapping), std::memory_order_relaxed);
  mappings[at].end.store(addressOf(mapping) + headerOf(mapping).pages_bytes, std::memory_order_release);
  return true;
}

Mapping *mappingAt(const void *address) noexcept {
  for (Mapping &mapping : mappings)
    if (const uint64_t end = mapping.end.load(std::memory_order_acquire);
        addressOf(address) < end && addressOf(address) >= mapping.begin.load(std::memory_order_relaxed))
      return &mapping;
  return nullptr;
}

template <class Real>
void *guardedMap(Real real, void *address, size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
  void *block = isPlainMapping(protection, flags) && isWanted(bytes) ? makeGuarded(bytes, 0) : nullptr;
  if (block != nullptr && !remember(block)) {
    releaseGuarded(block);
    block = nullptr;
  }
  return block != nullptr ? block : real(address, bytes, protection, flags, file, offset);
}
void *guardedMmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
  return guardedMap(behind.mmap, address, bytes, protection, flags, file, offset);
}
void *guardedMmap64(void *address, size_t bytes, int protection, int flags, int file, off64_t offset) noexcept {
  return guardedMap(behind.mmap64, address, bytes, protection, flags, file, offset);
}

// A guarded mapping is open from here on, and nobody watches it.
void leave(const void *address, abi::GuardCall how) noexcept {
  Mapping *mapping = isGuarded(address) ? mappingAt(address) : nullptr;
  const uint64_t end = mapping != nullptr ? mapping->end.exchange(0, std::memory_order_acq_rel) : 0;
  if (end == 0)
    return;
  const uint64_t begin = mapping->begin.load(std::memory_order_relaxed);
  tellTracer(how, begin);
  setProtection(begin, end - begin, PROT_READ | PROT_WRITE);
}

bool isWhole(const void *address, uint64_t bytes) noexcept {
  const Mapping *mapping = mappingAt(address);
  return mapping != nullptr && mapping->begin.load(std::memory_order_relaxed) == addressOf(address) &&
         mapping->end.load(std::memory_order_relaxed) - addressOf(address) - bytes < runtime::pageBytes();
}

int guardedMunmap(void *address, size_t bytes) noexcept {
  if (!isGuarded(address))
    return behind.munmap(address, bytes);
  leave(address, isWhole(address, bytes) ? abi::GuardCall::Gone : abi::GuardCall::Left);
  return mapClosed(addressOf(address), bytes, MAP_FIXED) ? 0 : -1;
}

// What a program does with parts of its mapping is between it and the kernel.
int guardedMprotect(void *address, size_t bytes, int protection) noexcept {
  leave(address, abi::GuardCall::Left);
  return behind.mprotect(address, bytes, protection);
}

void *guardedMremap(void *address, size_t old_bytes, size_t bytes, int flags, ...) noexcept {
  va_list rest;
  va_start(rest, flags);
  void *fixed = (flags & (MREMAP_FIXED | MREMAP_DONTUNMAP)) != 0 ? va_arg(rest, void *) : nullptr;
  va_end(rest);
  leave(address, abi::GuardCall::Left);
  void *moved = behind.mremap(address, old_bytes, bytes, flags, fixed);
  if (isGuarded(address) && moved != MAP_FAILED && moved != address)
    mapClosed(addressOf(address), old_bytes, MAP_FIXED_NOREPLACE);
  return moved;
}

} // namespace

void guardMappings(RealFunctions &real) noexcept {
  behind = real;
  real.mmap = guardedMmap;
  real.mmap64 = guardedMmap64;
  real.munmap = guardedMunmap;
  real.mprotect = guardedMprotect;
  real.mremap = guardedMremap;
}

} // namespace msleaks::hooks
