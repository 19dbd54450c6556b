#include "host/guarded_pages.h"

#include "msleaks/runtime/page.h"
#include "msleaks/runtime/sandbox.h"

#include <atomic>
#include <sys/syscall.h>
#include <unistd.h>

namespace msleaks::hooks {
namespace {

constexpr uint64_t kMappedChunk = 2; // glibc's flag of a block that is a mapping of its own

constinit uint64_t least_wanted_bytes = 0;
constinit std::atomic<uint64_t> range_used{0};

uint64_t roundUp(uint64_t bytes, uint64_t to) noexcept { return (bytes + to - 1) & ~(to - 1); }

} // namespace

long tellTracer(abi::GuardCall call, uint64_t first, uint64_t second, uint64_t third) noexcept {
  if (runtime::isSandboxed())
    return -1;
  const ErrnoKept kept;
  return ::syscall(abi::kGuardCall, static_cast<uint64_t>(call), first, second, third);
}

bool setProtection(uint64_t address, uint64_t bytes, int protection) noexcept {
  const ErrnoKept kept;
  return ::syscall(SYS_mprotect, address, bytes, protection) == 0;
}

bool mapClosed(uint64_t address, uint64_t bytes, int flags) noexcept {
  const ErrnoKept kept;
  if (::syscall(SYS_mmap, address, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0) !=
      static_cast<long>(address))
    return false;
  // A huge page would be resident as a whole, even if the program touches only a part of it. Also, the kernel joins
  // adjacent mappings with the same flags. Otherwise each freed block would use up some of the mappings that the
  // process may have.
  ::syscall(SYS_madvise, address, bytes, MADV_NOHUGEPAGE);
  return true;
}

bool reserveGuardedRange(uint64_t least_bytes) noexcept {
  if (!mapClosed(abi::kGuardedBegin, abi::kGuardedBytes, MAP_FIXED_NOREPLACE))
    return false;
  least_wanted_bytes = least_bytes;
  return true;
}

bool isWanted(uint64_t bytes) noexcept {
  return bytes >= least_wanted_bytes && bytes < abi::kGuardedBytes && tellTracer(abi::GuardCall::Offer, bytes) == 1;
}

namespace {

// Returns the address of a block in the range; 0: there is no room.
uint64_t takeOpenPages(uint64_t pages_bytes, uint64_t alignment) noexcept {
  const uint64_t page = runtime::pageBytes();
  const uint64_t align = alignment > page ? alignment : page;
  const uint64_t taken = page + pages_bytes + align;
  const uint64_t at = range_used.fetch_add(taken, std::memory_order_relaxed);
  if (at > abi::kGuardedBytes || taken > abi::kGuardedBytes - at)
    return 0;
  const uint64_t block = roundUp(abi::kGuardedBegin + at + page, align);
  return setProtection(block - page, page + pages_bytes, PROT_READ | PROT_WRITE) ? block : 0;
}

} // namespace

void *makeOpen(uint64_t bytes, uint64_t alignment) noexcept {
  const uint64_t page = runtime::pageBytes();
  const uint64_t pages_bytes = roundUp(bytes, page);
  const uint64_t block = takeOpenPages(pages_bytes, alignment);
  if (block == 0) {
    tellTracer(abi::GuardCall::Refused, bytes);
    return nullptr;
  }
  *reinterpret_cast<GuardedHeader *>(block - sizeof(GuardedHeader)) = {
      bytes, pages_bytes, page - 2 * sizeof(uint64_t), (pages_bytes + 2 * sizeof(uint64_t)) | kMappedChunk};
  return reinterpret_cast<void *>(block);
}

void closePages(void *block) noexcept { setProtection(addressOf(block), headerOf(block).pages_bytes, PROT_NONE); }

void openPages(void *block) noexcept {
  setProtection(addressOf(block), headerOf(block).pages_bytes, PROT_READ | PROT_WRITE);
}

void *makeGuarded(uint64_t bytes, uint64_t alignment) noexcept {
  void *block = makeOpen(bytes, alignment);
  if (block == nullptr)
    return nullptr;
  closePages(block);
  tellTracer(abi::GuardCall::Born, addressOf(block), bytes);
  return block;
}

void releaseGuarded(void *block) noexcept {
  const uint64_t page = runtime::pageBytes();
  tellTracer(abi::GuardCall::Gone, addressOf(block));
  mapClosed(addressOf(block) - page, page + headerOf(block).pages_bytes, MAP_FIXED);
}

} // namespace msleaks::hooks
