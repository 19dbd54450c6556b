// A hash table of rows by address, for example of blocks. It uses open addressing with linear probing, and its size is
// a power of two. An erase shifts rows back instead of leaving tombstones, so look-ups stay short.
#pragma once

#include "analysis/live/live_set.h"

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <sys/mman.h>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline live {

// No row has address 0: it marks an empty slot.
template <class Row> class AddressTable {
public:
  Row *find(uint64_t address) { return const_cast<Row *>(std::as_const(*this).find(address)); }
  const Row *find(uint64_t address) const {
    if (address == 0 || slots_.empty())
      return nullptr;
    for (size_t at = home(address);; at = next(at)) {
      if (slots_[at].address == address)
        return &slots_[at];
      if (slots_[at].address == 0)
        return nullptr;
    }
  }

  // No row in the table may have `row.address`. Returns the row's place in the table.
  Row *insert(const Row &row) {
    if ((size_ + 1) * 2 > slots_.size()) // in a fuller table, an erase shifts many rows
      grow();
    ++size_;
    return place(row);
  }

  // `row` is a result of find().
  void erase(Row *row) {
    size_t hole = static_cast<size_t>(row - slots_.data());
    for (size_t at = next(hole); slots_[at].address != 0; at = next(at)) {
      // A row may move into the hole only if its home is not between the hole and its present slot.
      if (((at - home(slots_[at].address)) & mask()) >= ((at - hole) & mask())) {
        slots_[hole] = slots_[at];
        hole = at;
      }
    }
    slots_[hole] = Row{};
    --size_;
  }

  // Prefetches the cache lines that a look-up or an erase of `address` will need; an erase reads the next slots, too.
  // It is always inlined, because g++ drops calls of functions that only prefetch.
  [[gnu::always_inline]] void prefetch(uint64_t address) const {
    if (slots_.empty())
      return;
    const auto *slot = reinterpret_cast<const char *>(&slots_[home(address)]);
    __builtin_prefetch(slot, 1);
    __builtin_prefetch(slot + sizeof(Row), 1);
    __builtin_prefetch(slot + 2 * sizeof(Row), 1);
  }

  size_t size() const { return size_; }
  template <class F> void forEach(F &&f) const {
    for (const Row &row : slots_)
      if (row.address != 0)
        f(row);
  }
  void clear() {
    std::vector<Row>().swap(slots_);
    size_ = 0;
  }

private:
  static constexpr size_t kFirstSlots = 64;

  size_t mask() const { return slots_.size() - 1; }
  size_t next(size_t at) const { return (at + 1) & mask(); }
  // Fibonacci hashing: the top bits of the product depend on every bit of the address.
  size_t home(uint64_t address) const { return static_cast<size_t>((address * 0x9e3779b97f4a7c15u) >> shift_); }

  // Look-ups jump through a large table. With small pages, most look-ups would also miss in the TLB.
  static void adviseHugePages(void *begin, size_t bytes) {
    constexpr uintptr_t kHugeBytes = 2 << 20;
    const uintptr_t first = (reinterpret_cast<uintptr_t>(begin) + kHugeBytes - 1) & ~(kHugeBytes - 1);
    const uintptr_t last = (reinterpret_cast<uintptr_t>(begin) + bytes) & ~(kHugeBytes - 1);
    if (first < last)
      madvise(reinterpret_cast<void *>(first), last - first, MADV_HUGEPAGE);
  }

  Row *place(const Row &row) {
    size_t at = home(row.address);
    while (slots_[at].address != 0)
      at = next(at);
    slots_[at] = row;
    return &slots_[at];
  }
  void grow() {
    const size_t count = slots_.empty() ? kFirstSlots : slots_.size() * 2;
    std::vector<Row> old;
    old.swap(slots_);
    slots_.reserve(count);
    adviseHugePages(slots_.data(), count * sizeof(Row));
    slots_.resize(count);
    shift_ = 64 - static_cast<unsigned>(__builtin_ctzll(slots_.size()));
    for (const Row &row : old)
      if (row.address != 0)
        place(row);
  }

  std::vector<Row> slots_;
  unsigned shift_ = 64;
  size_t size_ = 0;
};

using BlockTable = AddressTable<Block>;

// Finds the last address at or before another one, among the addresses of live blocks. An interior pointer needs this.
//
// It is a trie whose nodes are words of 64 bits. A word of level 0 tells which of 64 addresses begin a block. A word of
// level 1 tells which of 64 words of level 0 are not empty, and so on. Empty words do not exist. Since blocks are close
// together, most changes touch two levels, and a search goes up one or two levels, then down.
class AddressIndex {
public:
  void insert(uint64_t address) {
    for (unsigned level = 0; level < kLevels; ++level, address >>= kBits) {
      if (Word *word = words_[level].find(keyOf(address))) {
        word->bits |= bitOf(address);
        return;
      }
      words_[level].insert({keyOf(address), bitOf(address)});
    }
  }
  void erase(uint64_t address) {
    for (unsigned level = 0; level < kLevels; ++level, address >>= kBits) {
      Word *word = words_[level].find(keyOf(address));
      if (word == nullptr || (word->bits &= ~bitOf(address)) != 0)
        return;
      words_[level].erase(word);
    }
  }
  // Returns the largest address that is not above `address`.
  std::optional<uint64_t> lastUntil(uint64_t address) const {
    for (unsigned level = 0; level < kLevels; ++level) {
      // Level 0 may return the address itself. On higher levels, only words of smaller addresses count.
      const uint64_t earlier = level == 0 ? bitOf(address) | (bitOf(address) - 1) : bitOf(address) - 1;
      if (const uint64_t word = wordOf(level, address) & earlier; word != 0)
        return lastBelow(level, (address >> kBits) << kBits | lastBitOf(word));
      address >>= kBits;
    }
    return std::nullopt;
  }

private:
  static constexpr unsigned kBits = 6, kLevels = (64 + kBits - 1) / kBits;

  struct Word {
    uint64_t address = 0; // the word's number, from 1
    uint64_t bits = 0;    // never 0
  };
  // The key of the word that contains this place of its level.
  static uint64_t keyOf(uint64_t place) { return (place >> kBits) + 1; }
  static uint64_t bitOf(uint64_t place) { return uint64_t{1} << (place & 63); }
  static unsigned lastBitOf(uint64_t word) { return 63 - static_cast<unsigned>(std::countl_zero(word)); }
  uint64_t wordOf(unsigned level, uint64_t place) const {
    const Word *word = words_[level].find(keyOf(place));
    return word ? word->bits : 0;
  }
  uint64_t lastBelow(unsigned level, uint64_t place) const {
    for (; level > 0; --level)
      place = place << kBits | lastBitOf(wordOf(level - 1, place << kBits));
    return place;
  }

  std::array<AddressTable<Word>, kLevels> words_;
};

} // namespace msleaks::analysis::inline live
