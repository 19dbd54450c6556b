#include "dict_entries.h"

#include "calls.h"
#include "object_layout.h"

#include "../unwind/code.h"

#include <cstring>

namespace msleaks::runtime::python {

using unwind::copyIfThere;

DictEntries::DictEntries(uint64_t dict) noexcept {
  uint64_t keys_and_array[2];
  if (dict != 0 && copyIfThere(headEndOf(dict) + DictLayout::kKeys, keys_and_array))
    open(keys_and_array[0], keys_and_array[1]);
}

DictEntries::DictEntries(uint64_t keys, uint64_t array) noexcept { open(keys, array); }

void DictEntries::open(uint64_t keys, uint64_t array) noexcept {
  if (python.layout.minor < 11)
    openAs<KeysBefore311>(keys);
  else
    openAs<KeysFrom311>(keys);
  if (array != 0)
    values_ = array + (python.layout.minor < 13 ? DictLayout::kValuesBefore313 : DictLayout::kValuesFrom313);
}

template <class Keys> void DictEntries::openAs(uint64_t at) noexcept {
  constexpr uint64_t kMostEntries = 1 << 16;
  Keys keys;
  if (!copyIfThere(at, keys) || keys.entries > kMostEntries)
    return;
  at_ = at + sizeof keys + keys.indexBytes();
  left_ = keys.entries;
  entry_bytes_ = keys.entryBytes();
}

bool DictEntries::fill() noexcept {
  begin_ = 0;
  end_ = left_ < kAtOnce ? left_ : kAtOnce;
  if (end_ == 0 || !copyIfThere(at_, bytes_, end_ * entry_bytes_) ||
      (values_ != 0 && !copyIfThere(values_, own_values_, end_ * sizeof *own_values_))) {
    left_ = end_ = 0;
    return false;
  }
  left_ -= end_;
  at_ += end_ * entry_bytes_;
  values_ += values_ != 0 ? end_ * sizeof *own_values_ : 0;
  return true;
}

bool DictEntries::next(DictEntry &entry) noexcept {
  while (begin_ != end_ || fill()) {
    const uint64_t index = begin_++;
    std::memcpy(&entry, bytes_ + (index + 1) * entry_bytes_ - sizeof entry, sizeof entry);
    if (values_ != 0)
      entry.value = own_values_[index];
    if (entry.key != 0 && entry.value != 0)
      return true;
  }
  return false;
}

} // namespace msleaks::runtime::python
