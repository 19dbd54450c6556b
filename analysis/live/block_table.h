// Rows by address, such as blocks: open addressing in a power of two, linear probing, deletion by shifting back. So
// there are no tombstones, and a lookup stays short however many blocks came and went.
#pragma once

#include "analysis/live/live_set.h"

#include <cstdint>
#include <sys/mman.h>
#include <utility>
#include <vector>

namespace msleaks::analysis {

// Address 0 is no row's: it marks a slot that is empty.
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

  // `row.address` must not be in the table. Returns its place there.
  Row *insert(const Row &row) {
    if ((size_ + 1) * 2 > slots_.size()) // fuller ones have long runs to shift back on erase
      grow();
    ++size_;
    return place(row);
  }

  // `row` is what find returned.
  void erase(Row *row) {
    size_t hole = static_cast<size_t>(row - slots_.data());
    for (size_t at = next(hole); slots_[at].address != 0; at = next(at)) {
      // May move into the hole only if its home does not lie between the hole and here.
      if (((at - home(slots_[at].address)) & mask()) >= ((at - hole) & mask())) {
        slots_[hole] = slots_[at];
        hole = at;
      }
    }
    slots_[hole] = Row{};
    --size_;
  }

  // Asks for the lines that a look-up of `address` will need, and an erase: it looks at the slots behind. Always
  // inline: g++ takes a function that only prefetches for one without effect, and drops the calls.
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

  // Look-ups jump all over a large table: with small pages, most of them would miss the TLB as well.
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

} // namespace msleaks::analysis
