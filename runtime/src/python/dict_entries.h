// Reads the entries of Python's dicts. Other threads may change or free a dict meanwhile, since the reader has no lock
// of Python. So the kernel copies each piece of memory, and wrong data ends the reading.
#pragma once

#include <cstdint>

namespace msleaks::runtime::python {

struct DictEntry {
  uint64_t key, value; // objects
};

class DictEntries {
public:
  explicit DictEntries(uint64_t dict) noexcept; // 0 = without entries
  // The attributes of an object without a dict: the keys of its class, and its array of values.
  DictEntries(uint64_t keys, uint64_t array) noexcept;
  // Returns the next entry, in the order in which the program has added them. Its value is not 0.
  bool next(DictEntry &) noexcept;

private:
  static constexpr uint64_t kAtOnce = 16, kMostEntryBytes = 24;
  template <class Keys> void openAs(uint64_t keys) noexcept;
  void open(uint64_t keys, uint64_t array) noexcept;
  bool fill() noexcept;

  uint64_t at_ = 0, left_ = 0, entry_bytes_ = kMostEntryBytes; // the next entries in the dict
  uint64_t values_ = 0;                                        // address of the next value; 0 = entries contain it
  uint64_t begin_ = 0, end_ = 0;                               // the entries in the buffers that were not returned yet
  unsigned char bytes_[kAtOnce * kMostEntryBytes];
  uint64_t own_values_[kAtOnce];
};

} // namespace msleaks::runtime::python
