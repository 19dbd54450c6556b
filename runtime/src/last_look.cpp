// Reads which pages of a large block were touched, just before the process frees the block. The collector reads this
// from time to time, but does not see what the program touches after the collector's last reading.
#include "arena.h"
#include "system.h"
#include "watched_block.h"

#include "msleaks/runtime/page.h"
#include "msleaks/runtime/record.h"

namespace msleaks::runtime {
namespace {

// The total time of these readings in a process is limited to kFreeLooksNs plus 1/kTimeOfLooks of the time since the
// process attached.
constexpr uint64_t kFreeLooksNs = 20'000'000, kTimeOfLooks = 50;

// Removes the block's entry, so only one thread reads the block's pages. The collector may write the entry at the same
// time. If it does, the entry's address changes while the other fields are read, and the result is false.
bool takeBlock(abi::LargeBlocks &told, uint64_t address, uint64_t &size, uint64_t &time_ns) noexcept {
  for (abi::LargeBlock &block : told.blocks) {
    uint64_t expected = address;
    if (block.address.load(std::memory_order_acquire) != address)
      continue;
    size = block.size.load(std::memory_order_relaxed);
    time_ns = block.time_ns.load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    return block.address.compare_exchange_strong(expected, 0) && size <= UINT64_MAX - address;
  }
  return false;
}

// Returns the time at which a reading that begins now must end.
uint64_t lookUntilNs(uint64_t now_ns) noexcept {
  const uint64_t begin_ns = __msl_process.arena->header->attach_ns;
  const uint64_t age_ns = now_ns > begin_ns ? now_ns - begin_ns : 0;
  const uint64_t spent_ns = __atomic_load_n(&__msl_process.last_looks_ns, __ATOMIC_RELAXED);
  const uint64_t most_ns = kFreeLooksNs + age_ns / kTimeOfLooks;
  return now_ns + (most_ns > spent_ns ? most_ns - spent_ns : 0);
}

class PageMap {
public:
  explicit PageMap(uint64_t until_ns) noexcept : until_ns_(until_ns) {}

  // Adds the touched bytes of [begin, end), which are whole pages. Returns false if /proc/self/pagemap cannot be read,
  // or if no time is left.
  bool addTouched(uint64_t begin, uint64_t end, uint64_t &bytes) noexcept {
    constexpr uint64_t kPresent = uint64_t{1} << 63, kSwapped = uint64_t{1} << 62;
    const uint64_t page = pageBytes();
    while (begin < end) {
      const uint64_t left = (end - begin) / page, count = left < kWords ? left : kWords;
      const long wanted = static_cast<long>(count * sizeof(uint64_t));
      if (!file_ || monotonicNs() >= until_ns_ ||
          callKernel(SYS_pread64, file_.fd(), words_, wanted, begin / page * sizeof(uint64_t)) != wanted)
        return false;
      for (uint64_t i = 0; i < count; ++i)
        bytes += (words_[i] & (kPresent | kSwapped)) != 0 ? page : 0;
      begin += count * page;
    }
    return true;
  }

  // Adds the touched bytes of [begin, end), a part of a page whose rest belongs to other blocks. If one byte of the
  // part is not zero, the whole part counts as touched. A page that is not present is not read, since reading would map
  // it.
  bool addTouchedPart(uint64_t begin, uint64_t end, uint64_t &bytes) noexcept {
    const uint64_t page = begin / pageBytes() * pageBytes();
    uint64_t present = 0;
    if (begin >= end)
      return true;
    if (!addTouched(page, page + pageBytes(), present))
      return false;
    if (present != 0 && !isZero(begin, end))
      bytes += end - begin;
    return true;
  }

private:
  static constexpr uint64_t kWords = 64;

  // Whether all bytes are zero; false if they cannot be read. The collector's entry may be out of date, and the memory
  // may be unmapped. So the kernel copies the bytes: for an unmapped page it returns an error and sends no signal.
  bool isZero(uint64_t begin, uint64_t end) noexcept {
    while (begin < end) {
      const uint64_t count = end - begin < sizeof words_ ? end - begin : sizeof words_;
      words_[(count - 1) / sizeof(uint64_t)] = 0; // the kernel may fill only a part of the last word
      if (!readHost(begin, words_, count))
        return false;
      for (uint64_t i = 0; i * sizeof(uint64_t) < count; ++i)
        if (words_[i] != 0)
          return false;
      begin += count;
    }
    return true;
  }

  OpenFile file_{"/proc/self/pagemap", O_RDONLY};
  uint64_t until_ns_;
  uint64_t words_[kWords];
};

bool countTouched(uint64_t address, uint64_t size, uint64_t until_ns, uint64_t &bytes) noexcept {
  const uint64_t page = pageBytes(), end = address + size;
  uint64_t first = (address + page - 1) / page * page, last = end / page * page;
  first = first < end ? first : end;
  last = last > first ? last : first;
  PageMap pages(until_ns);
  return pages.addTouchedPart(address, first, bytes) && pages.addTouched(first, last, bytes) &&
         pages.addTouchedPart(last, end, bytes);
}

} // namespace
} // namespace msleaks::runtime

using namespace msleaks;
using namespace msleaks::runtime;

void __msl_look_before_free(uint64_t address, uint32_t heap) noexcept {
  abi::LargeBlocks *told = __atomic_load_n(&__msl_process.large_blocks, __ATOMIC_ACQUIRE);
  uint64_t size = 0, time_ns = 0, touched = 0;
  if (told == nullptr || !mayCallKernel() || !takeBlock(*told, address, size, time_ns))
    return;
  const ErrnoKept kept;
  const uint64_t begin_ns = monotonicNs(), until_ns = lookUntilNs(begin_ns);
  if (until_ns <= begin_ns)
    return;
  const bool is_known = countTouched(address, size, until_ns, touched);
  __atomic_fetch_add(&__msl_process.last_looks_ns, monotonicNs() - begin_ns, __ATOMIC_RELAXED);
  if (!is_known)
    return;
  abi::PagesEvent event{};
  event.header = {abi::EventKind::Pages, static_cast<abi::Heap>(heap), 0, 0, 0, 0};
  event.address = address;
  event.size = size;
  event.continuation = abi::kContinuationTag;
  event.allocated_ns = time_ns;
  event.touched = touched;
  event.at_exit = 1;
  recordEnabled(__msl_thread, event);
}
