// The guarded mappings of the process, in any order. The table finds a mapping by any address in it, because a program
// may unmap or protect a part of a mapping. Any thread may add and remove mappings at any time.
#pragma once

#include <atomic>
#include <cstdint>

namespace msleaks::hooks {

struct MappedRange {
  uint64_t begin = 0, end = 0;
  bool empty() const noexcept { return begin == end; }
};

template <uint32_t kMost> class MappingTable {
  static constexpr uint64_t kFree = 0, kClaimed = 1; // values of `end`

public:
  struct Entry {
    std::atomic<uint64_t> begin, end;
  };

  // Returns null if there is no room. A caller claims an entry before it takes addresses for the mapping. Addresses are
  // never used twice, and new ones are the highest. So each range of an entry lies above the entry's earlier ranges. A
  // reader that sees the begin of a new range and the end of an earlier one finds no address between the two.
  Entry *claim() noexcept {
    for (Entry &entry : entries_)
      if (uint64_t is_free = kFree; entry.end.load(std::memory_order_relaxed) == kFree &&
                                    entry.end.compare_exchange_strong(is_free, kClaimed, std::memory_order_acquire))
        return &entry;
    return nullptr;
  }
  void put(Entry &claimed, MappedRange range) noexcept {
    claimed.begin.store(range.begin, std::memory_order_relaxed);
    claimed.end.store(range.end, std::memory_order_release);
  }
  void giveUp(Entry &claimed) noexcept { claimed.end.store(kFree, std::memory_order_release); }

  // Returns the mapping that contains the address, or an empty range.
  MappedRange at(uint64_t address) const noexcept {
    for (const Entry &entry : entries_)
      if (const MappedRange range = rangeOf(entry); contains(range, address))
        return range;
    return {};
  }

  // Like at(), but removes the mapping. If several threads call this for one mapping, only one of them gets it.
  MappedRange take(uint64_t address) noexcept {
    for (Entry &entry : entries_)
      if (const MappedRange range = rangeOf(entry); contains(range, address)) {
        uint64_t end = range.end;
        return entry.end.compare_exchange_strong(end, kFree, std::memory_order_acq_rel) ? range : MappedRange{};
      }
    return {};
  }

private:
  static MappedRange rangeOf(const Entry &entry) noexcept {
    const uint64_t end = entry.end.load(std::memory_order_acquire);
    return end == kFree || end == kClaimed ? MappedRange{}
                                           : MappedRange{entry.begin.load(std::memory_order_relaxed), end};
  }
  static bool contains(MappedRange range, uint64_t address) noexcept {
    return address < range.end && address >= range.begin;
  }

  Entry entries_[kMost]{};
};

} // namespace msleaks::hooks
