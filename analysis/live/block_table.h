// A hash table of blocks by address. A slot of the table has 8 bytes: a part of the hash, and the number of the block's
// row. So the table grows without reading blocks, and the rows never move.
#pragma once

#include "analysis/live/live_set.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <sys/mman.h>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline live {

// It uses open addressing with linear probing, and its size is a power of two. An erase shifts slots back instead of
// leaving tombstones, so look-ups stay short. No block has address 0.
class BlockTable {
public:
  Block *find(uint64_t address) { return const_cast<Block *>(std::as_const(*this).find(address)); }
  const Block *find(uint64_t address) const {
    if (address == 0 || slots_.empty())
      return nullptr;
    const uint32_t hash = hashOf(address);
    for (size_t at = home(hash); slots_[at].row != 0; at = next(at))
      if (slots_[at].hash == hash)
        if (const Block &block = rowAt(slots_[at].row); block.address == address)
          return &block;
    return nullptr;
  }

  // No block in the table may have `block.address`. Returns the block's place. It is valid until the block is erased.
  Block *insert(const Block &block) {
    if ((size_ + 1) * 2 > slots_.size()) // in a fuller table, an erase shifts many slots
      grow();
    ++size_;
    const uint32_t row = takeRow();
    place({hashOf(block.address), row});
    Block &in_row = rowAt(row);
    in_row = block;
    return &in_row;
  }

  // `block` is a result of find().
  void erase(Block *block) {
    size_t hole = home(hashOf(block->address));
    while (&rowAt(slots_[hole].row) != block)
      hole = next(hole);
    const uint32_t row = slots_[hole].row;
    for (size_t at = next(hole); slots_[at].row != 0; at = next(at)) {
      // A slot may move into the hole only if its home is not between the hole and its present place.
      if (((at - home(slots_[at].hash)) & mask()) >= ((at - hole) & mask())) {
        slots_[hole] = slots_[at];
        hole = at;
      }
    }
    slots_[hole] = {};
    *block = Block{};
    block->size = std::exchange(free_row_, row);
    --size_;
  }

  // Prefetches the slots that a look-up or an erase of `address` will need. A small table is in the cache.
  // It is always inlined, because g++ drops calls of functions that only prefetch.
  [[gnu::always_inline]] void prefetchSlot(uint64_t address) const {
    if (slots_.size() > kCachedSlots)
      __builtin_prefetch(&slots_[home(hashOf(address))], 1);
  }
  // Prefetches the block, if it is there. prefetchSlot() was called some time before.
  [[gnu::always_inline]] void prefetchBlock(uint64_t address) const {
    if (slots_.size() <= kCachedSlots)
      return;
    const uint32_t hash = hashOf(address);
    for (size_t at = home(hash); slots_[at].row != 0; at = next(at))
      if (slots_[at].hash == hash)
        return __builtin_prefetch(&rowAt(slots_[at].row), 1);
  }

  size_t size() const { return size_; }
  template <class F> void forEach(F &&f) const {
    for (const std::vector<Block> &chunk : chunks_)
      for (const Block &block : chunk)
        if (block.address != 0)
          f(block);
  }

private:
  struct Slot {
    uint32_t hash = 0;
    uint32_t row = 0; // from 1; 0 = empty
  };
  static constexpr size_t kFirstSlots = 64, kCachedSlots = 16 << 10;
  static constexpr unsigned kFirstRowsBits = 5;
  static constexpr uint32_t kFirstRows =
      1u << kFirstRowsBits; // in the first chunk; each chunk has twice as many as the one before

  // Fibonacci hashing: the top bits of the product depend on every bit of the address.
  static uint32_t hashOf(uint64_t address) { return static_cast<uint32_t>((address * 0x9e3779b97f4a7c15u) >> 32); }
  size_t home(uint32_t hash) const { return hash >> shift_; }
  size_t mask() const { return slots_.size() - 1; }
  size_t next(size_t at) const { return (at + 1) & mask(); }

  const Block &rowAt(uint32_t row) const {
    const uint32_t from_first = row - 1 + kFirstRows;
    const auto chunk = static_cast<uint32_t>(std::bit_width(from_first)) - 1 - kFirstRowsBits;
    return chunks_[chunk][from_first - (kFirstRows << chunk)];
  }
  Block &rowAt(uint32_t row) { return const_cast<Block &>(std::as_const(*this).rowAt(row)); }
  // Returns the number of a row for a new block.
  uint32_t takeRow() {
    if (free_row_ != 0)
      return std::exchange(free_row_, static_cast<uint32_t>(rowAt(free_row_).size));
    if (chunks_.empty() || chunks_.back().size() == chunks_.back().capacity()) {
      const size_t count = chunks_.empty() ? kFirstRows : 2 * chunks_.back().size();
      chunks_.emplace_back().reserve(count);
      adviseHugePages(chunks_.back().data(), count * sizeof(Block));
    }
    chunks_.back().emplace_back();
    return ++rows_;
  }

  // Look-ups jump through a large table. With small pages, most look-ups would also miss in the TLB.
  static void adviseHugePages(void *begin, size_t bytes) {
    constexpr uintptr_t kHugeBytes = 2 << 20;
    const uintptr_t first = (reinterpret_cast<uintptr_t>(begin) + kHugeBytes - 1) & ~(kHugeBytes - 1);
    const uintptr_t last = (reinterpret_cast<uintptr_t>(begin) + bytes) & ~(kHugeBytes - 1);
    if (first < last)
      madvise(reinterpret_cast<void *>(first), last - first, MADV_HUGEPAGE);
  }

  void place(Slot slot) {
    size_t at = home(slot.hash);
    while (slots_[at].row != 0)
      at = next(at);
    slots_[at] = slot;
  }
  void grow() {
    const size_t count = slots_.empty() ? kFirstSlots : slots_.size() * 2;
    std::vector<Slot> old;
    old.swap(slots_);
    slots_.reserve(count);
    adviseHugePages(slots_.data(), count * sizeof(Slot));
    slots_.resize(count);
    shift_ = 32 - static_cast<unsigned>(__builtin_ctzll(count));
    for (const Slot slot : old)
      if (slot.row != 0)
        place(slot);
  }

  std::vector<Slot> slots_;
  unsigned shift_ = 0; // of a hash, to get a slot
  size_t size_ = 0;
  std::vector<std::vector<Block>> chunks_; // their capacity never changes
  uint32_t rows_ = 0;                      // number of rows in the chunks
  uint32_t free_row_ = 0;                  // of an erased block, whose size is the number of the next such row
};

} // namespace msleaks::analysis::inline live
