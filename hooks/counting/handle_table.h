// Holds what the hooks know about objects of a driver. Finds it by their handles.
#pragma once

#include "counting/counted_kernels.h"

#include "msleaks/abi/symbol.h"

namespace msleaks::hooks {

// Returns the first row of a list that `isFree`, or adds one. Null: there is no memory. Hold CountedLock.
template <class Row, class IsFree> Row *freeRow(Row *&list, IsFree isFree) noexcept {
  for (Row *row = list; row != nullptr; row = row->next)
    if (isFree(*row))
      return row;
  auto *const added = static_cast<Row *>(keep(sizeof(Row)));
  if (added != nullptr) {
    added->next = list;
    __atomic_store_n(&list, added, __ATOMIC_RELAXED);
  }
  return added;
}

// Two families may use the same number as a handle.
inline Handle keyOf(abi::Family family, uint64_t number) noexcept {
  return reinterpret_cast<Handle>(number ^ (static_cast<uint64_t>(family) + 1) << 56);
}

// A table of zeros is empty. A `Row` has the members `handle` (null: the row is free for another object) and `next`.
// Hold CountedLock, except for hasAny().
template <class Row> class HandleTable {
public:
  bool hasAny() const noexcept { return __atomic_load_n(&count_, __ATOMIC_RELAXED) != 0; }

  Row *find(Handle handle) const noexcept {
    Row *known = handle != nullptr ? buckets_[bucketOf(handle)] : nullptr;
    while (known != nullptr && known->handle != handle)
      known = known->next;
    return known;
  }

  // Null: there is no memory.
  Row *add(const Row &made) noexcept {
    Row *const added = freeRow(buckets_[bucketOf(made.handle)], [](const Row &row) { return row.handle == nullptr; });
    if (added == nullptr)
      return nullptr;
    Row *const next = added->next;
    *added = made;
    added->next = next;
    __atomic_fetch_add(&count_, 1u, __ATOMIC_RELAXED);
    return added;
  }

  void forget(Handle handle) noexcept {
    if (Row *const known = find(handle)) {
      known->handle = nullptr;
      __atomic_fetch_sub(&count_, 1u, __ATOMIC_RELAXED);
    }
  }

  template <class F> void forEach(F f) const {
    for (Row *row : buckets_)
      for (; row != nullptr; row = row->next)
        if (row->handle != nullptr)
          f(*row);
  }

private:
  static constexpr size_t kBuckets = 256;
  static size_t bucketOf(Handle handle) noexcept { return reinterpret_cast<uintptr_t>(handle) / 16 % kBuckets; }

  Row *buckets_[kBuckets];
  uint32_t count_; // other threads read it without the lock
};

} // namespace msleaks::hooks
