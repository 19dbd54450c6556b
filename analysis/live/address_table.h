// A hash table of small rows by address. It uses open addressing with linear probing, and its size is a power of two.
// An erase shifts rows back instead of leaving tombstones, so look-ups stay short.
#pragma once

#include <cstddef>
#include <cstdint>
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

private:
  static constexpr size_t kFirstSlots = 64;

  size_t mask() const { return slots_.size() - 1; }
  size_t next(size_t at) const { return (at + 1) & mask(); }
  // Fibonacci hashing: the top bits of the product depend on every bit of the address.
  size_t home(uint64_t address) const { return static_cast<size_t>((address * 0x9e3779b97f4a7c15u) >> shift_); }

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

} // namespace msleaks::analysis::inline live
