// Reads which pages of a large block were touched, or how much of a sampled block is needed, just before the process
// frees the block. The collector reads this from time to time, but does not see what the program touches after the
// collector's last reading.
#include "arena.h"
#include "system.h"
#include "watched_block.h"

#include "msleaks/abi/sampled_block.h"
#include "msleaks/runtime/page.h"
#include "msleaks/runtime/record.h"

namespace msleaks::runtime {
namespace {

// The total time of these readings in a process is limited to kFreeLooksNs plus 1/kTimeOfLooks of the time since the
// process attached.
constexpr uint64_t kFreeLooksNs = 20'000'000, kTimeOfLooks = 50;
// Samples may spend only this part of that time, so that time is left for large blocks.
constexpr uint64_t kPartOfSamples = 2;

struct TakenBlock {
  uint64_t address, size, time_ns;
  bool is_sample;
};

// Removes the block's entry, so only one thread reads the block. The collector may write the entry at the same time. If
// it does, the entry's address changes while the other fields are read, and the result is false.
bool takeEntry(abi::LargeBlock &entry, TakenBlock &block) noexcept {
  uint64_t expected = block.address;
  block.size = entry.size.load(std::memory_order_relaxed);
  block.time_ns = entry.time_ns.load(std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_acquire);
  return entry.address.compare_exchange_strong(expected, 0) && block.size <= UINT64_MAX - block.address;
}

bool takeBlock(abi::LargeBlocks &told, TakenBlock &block) noexcept {
  abi::LargeBlock &sample = told.samples[abi::sampleIndexOf(block.address)];
  block.is_sample = sample.address.load(std::memory_order_acquire) == block.address;
  if (block.is_sample)
    return takeEntry(sample, block);
  for (abi::LargeBlock &entry : told.blocks)
    if (entry.address.load(std::memory_order_acquire) == block.address)
      return takeEntry(entry, block);
  return false;
}

// Returns the time at which a reading that begins now must end.
uint64_t lookUntilNs(uint64_t now_ns, bool is_sample) noexcept {
  const uint64_t begin_ns = __msl_process.arena->header->attach_ns;
  const uint64_t age_ns = now_ns > begin_ns ? now_ns - begin_ns : 0;
  const uint64_t spent_ns = __atomic_load_n(&__msl_process.last_looks_ns, __ATOMIC_RELAXED);
  const uint64_t most_ns = (kFreeLooksNs + age_ns / kTimeOfLooks) / (is_sample ? kPartOfSamples : 1);
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

// The part of [address, end) that consists of whole pages. It may be empty.
struct WholePages {
  WholePages(uint64_t address, uint64_t end) noexcept {
    const uint64_t page = pageBytes();
    first = (address + page - 1) / page * page;
    last = end / page * page;
    first = first < end ? first : end;
    last = last > first ? last : first;
  }
  uint64_t first, last;
};

// Adds the words of [begin, end). Returns false if they cannot be read, or if no time is left. The kernel copies the
// bytes, since the entry may be out of date (PageMap::isZero).
bool addWords(uint64_t begin, uint64_t end, uint64_t until_ns, abi::ZeroRange &zeros) noexcept {
  uint64_t words[128];
  while (begin < end) {
    const uint64_t count = end - begin < sizeof words ? end - begin : sizeof words;
    words[(count - 1) / sizeof(uint64_t)] = 0; // the kernel may fill only a part of the last word
    if (monotonicNs() >= until_ns || !readHost(begin, words, count))
      return false;
    zeros.add(words, count);
    begin += count;
  }
  return true;
}

bool addPages(const WholePages &whole, uint64_t until_ns, abi::ZeroRange &zeros) noexcept {
  if (whole.first == whole.last)
    return true;
  PageMap pages(until_ns);
  const uint64_t page = pageBytes();
  for (uint64_t at = whole.first; at < whole.last; at += page) {
    uint64_t present = 0;
    abi::ZeroRange with_page = zeros;
    if (!pages.addTouched(at, at + page, present) || (present != 0 && !addWords(at, at + page, until_ns, with_page)))
      return false;
    if (present == 0)
      zeros.addZeros(page);
    else if (with_page.bytes == zeros.bytes + page)
      zeros.addNeeded(); // these zeros were written (ZeroRange)
    else
      zeros = with_page;
  }
  return true;
}

// Counts the bytes that a sampled block needs. Its parts of pages that it shares with other blocks are read, too.
bool countNeeded(uint64_t address, uint64_t size, uint64_t until_ns, uint64_t &bytes) noexcept {
  const WholePages whole(address, address + size);
  abi::ZeroRange zeros;
  if (!addWords(address, whole.first, until_ns, zeros) || !addPages(whole, until_ns, zeros) ||
      !addWords(whole.last, address + size, until_ns, zeros))
    return false;
  bytes = size - zeros.longest_bytes;
  return true;
}

bool countTouched(uint64_t address, uint64_t size, uint64_t until_ns, uint64_t &bytes) noexcept {
  const WholePages whole(address, address + size);
  PageMap pages(until_ns);
  return pages.addTouchedPart(address, whole.first, bytes) && pages.addTouched(whole.first, whole.last, bytes) &&
         pages.addTouchedPart(whole.last, address + size, bytes);
}

} // namespace
} // namespace msleaks::runtime

using namespace msleaks;
using namespace msleaks::runtime;

void __msl_look_before_free(uint64_t address, uint32_t heap) noexcept {
  abi::LargeBlocks *told = __atomic_load_n(&__msl_process.large_blocks, __ATOMIC_ACQUIRE);
  TakenBlock block{address, 0, 0, false};
  if (told == nullptr || !mayCallKernel() || !takeBlock(*told, block))
    return;
  const ErrnoKept kept;
  const uint64_t begin_ns = monotonicNs(), until_ns = lookUntilNs(begin_ns, block.is_sample);
  if (until_ns <= begin_ns)
    return;
  uint64_t touched = 0; // NOLINT(misc-const-correctness): the next call changes it
  const bool is_known = (block.is_sample ? countNeeded : countTouched)(address, block.size, until_ns, touched);
  __atomic_fetch_add(&__msl_process.last_looks_ns, monotonicNs() - begin_ns, __ATOMIC_RELAXED);
  if (!is_known)
    return;
  abi::PagesEvent event{};
  event.header = {abi::EventKind::Pages, static_cast<abi::Heap>(heap), 0, 0, 0, 0};
  event.address = address;
  event.size = block.size;
  event.continuation = abi::kContinuationTag;
  event.allocated_ns = block.time_ns;
  event.touched = touched;
  event.at_exit = abi::kPagesLast | (block.is_sample ? abi::kPagesOfSample : 0);
  recordEnabled(__msl_thread, event);
}
