// Guards some of the mappings that the program makes itself.
#include "host/guarded_pages.h"
#include "host/mapping_table.h"

#include "msleaks/runtime/page.h"

#include <cstdarg>

namespace msleaks::hooks {
namespace {

constinit RealFunctions behind{}; // the functions that the functions of this file call

constexpr int kAsksForMore = MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_SHARED | MAP_POPULATE | MAP_LOCKED | MAP_HUGETLB |
                             MAP_GROWSDOWN | MAP_STACK | MAP_32BIT;

bool isPlainMapping(int protection, int flags) noexcept {
  return protection == (PROT_READ | PROT_WRITE) && (flags & MAP_ANONYMOUS) != 0 && (flags & kAsksForMore) == 0;
}

// Larger than the number of blocks that the tracer guards in a process (analysis/second_run/guarded_blocks.h).
constinit MappingTable<8192> mappings{};

void *makeGuardedMapping(uint64_t bytes) noexcept {
  auto *entry = mappings.claim();
  if (entry == nullptr) {
    tellTracer(abi::GuardCall::Refused, bytes);
    return nullptr;
  }
  void *block = makeGuarded(bytes, 0);
  if (block != nullptr)
    mappings.put(*entry, {addressOf(block), addressOf(block) + headerOf(block).pages_bytes});
  else
    mappings.giveUp(*entry);
  return block;
}

template <class Real>
void *guardedMap(Real real, void *address, size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
  void *block = isPlainMapping(protection, flags) && isWanted(bytes) ? makeGuardedMapping(bytes) : nullptr;
  return block != nullptr ? block : real(address, bytes, protection, flags, file, offset);
}
void *guardedMmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
  return guardedMap(behind.mmap, address, bytes, protection, flags, file, offset);
}
void *guardedMmap64(void *address, size_t bytes, int protection, int flags, int file, off64_t offset) noexcept {
  return guardedMap(behind.mmap64, address, bytes, protection, flags, file, offset);
}

// Makes a guarded mapping accessible. The tracer no longer watches it.
void leave(const void *address, abi::GuardCall how) noexcept {
  const MappedRange left = isGuarded(address) ? mappings.take(addressOf(address)) : MappedRange{};
  if (left.empty())
    return;
  tellTracer(how, left.begin);
  setProtection(left.begin, left.end - left.begin, PROT_READ | PROT_WRITE);
  mapClosed(left.begin - runtime::pageBytes(), runtime::pageBytes(), MAP_FIXED); // the page with its header
}

bool isWhole(const void *address, uint64_t bytes) noexcept {
  const MappedRange mapping = mappings.at(addressOf(address));
  return !mapping.empty() && mapping.begin == addressOf(address) &&
         mapping.end - addressOf(address) - bytes < runtime::pageBytes();
}

int guardedMunmap(void *address, size_t bytes) noexcept {
  if (!isGuarded(address))
    return behind.munmap(address, bytes);
  leave(address, isWhole(address, bytes) ? abi::GuardCall::Gone : abi::GuardCall::Left);
  return mapClosed(addressOf(address), bytes, MAP_FIXED) ? 0 : -1;
}

// A mapping whose protection the program changes is no longer guarded.
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
