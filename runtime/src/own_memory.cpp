#include "own_memory.h"

#include "system.h"

#include "msleaks/runtime/page.h"

#include <bit>
#include <cstring>

namespace msleaks::runtime {
namespace {

// The list of all memory from mapAnonymous(), newest first. Entries are never removed. So a signal handler and the
// collector can read the list without a lock. A fork's child inherits the list.
constinit std::atomic<abi::OwnMemory *> own_memory{nullptr};

// Rounds up to whole pages, and a large size by at most an eighth. So there are few different sizes, and freed memory
// often fits a later request.
uint64_t roundedBytes(uint64_t bytes) noexcept {
  const uint64_t page = pageBytes(), eighth = std::bit_floor(bytes) / 8;
  const uint64_t granule = eighth > page ? eighth : page;
  return (bytes + granule - 1) & ~(granule - 1);
}

abi::OwnMemory *takeFree(uint64_t bytes) noexcept {
  constexpr unsigned kMostLooks = 4096;
  abi::OwnMemory *memory = own_memory.load(std::memory_order_acquire);
  for (unsigned i = 0; memory != nullptr && i < kMostLooks; ++i, memory = memory->next) {
    uint32_t expected = 0;
    if (memory->bytes == bytes && memory->in_use.load(std::memory_order_relaxed) == 0 &&
        memory->in_use.compare_exchange_strong(expected, 1, std::memory_order_acquire))
      return memory;
  }
  return nullptr;
}

abi::OwnMemory *makeNew(uint64_t bytes) noexcept {
  auto *memory = static_cast<abi::OwnMemory *>(mapMemory(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS));
  if (memory == nullptr)
    return nullptr;
  memory->magic = abi::OwnMemory::kMagic;
  memory->bytes = bytes;
  memory->in_use.store(1, std::memory_order_relaxed);
  memory->next = own_memory.load(std::memory_order_relaxed);
  while (!own_memory.compare_exchange_weak(memory->next, memory, std::memory_order_release))
    ;
  return memory;
}

// Sets the memory to zeros. All pages except the first are released; the kernel fills them with zeros at the next
// touch.
void clear(abi::OwnMemory *memory) noexcept {
  auto *const begin = reinterpret_cast<char *>(memory), *const first = begin + sizeof *memory;
  const uint64_t page = pageBytes(), rest = memory->bytes - page;
  const bool is_rest_clear = rest == 0 || callKernel(SYS_madvise, begin + page, rest, MADV_DONTNEED) == 0;
  std::memset(first, 0, (is_rest_clear ? page : memory->bytes) - sizeof *memory);
}

} // namespace

void *mapAnonymous(uint64_t bytes) noexcept {
  const uint64_t rounded = roundedBytes(bytes + sizeof(abi::OwnMemory));
  if (rounded < bytes)
    return nullptr;
  abi::OwnMemory *memory = takeFree(rounded);
  if (memory == nullptr)
    memory = makeNew(rounded);
  return memory != nullptr ? memory + 1 : nullptr;
}

void unmapOwn(void *memory) noexcept {
  auto *own = static_cast<abi::OwnMemory *>(memory) - 1;
  clear(own);
  own->in_use.store(0, std::memory_order_release);
}

uint64_t listOfOwnMemory() noexcept { return reinterpret_cast<uint64_t>(&own_memory); }

} // namespace msleaks::runtime
