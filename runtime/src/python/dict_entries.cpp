#include "dict_entries.h"

#include "calls.h"
#include "object_layout.h"

#include "../unwind/code.h"

#include <cstring>

namespace msleaks::runtime::python {

using unwind::copyIfThere;

DictEntries::DictEntries(uint64_t dict) noexcept {
  uint64_t keys_and_values[2];
  if (dict == 0 || !copyIfThere(dict + DictLayout::kKeys, keys_and_values))
    return;
  if (python.layout.minor < 11)
    open<KeysBefore311>(keys_and_values[0]);
  else
    open<KeysFrom311>(keys_and_values[0]);
  if (keys_and_values[1] != 0)
    values_ =
        keys_and_values[1] + (python.layout.minor < 13 ? DictLayout::kValuesBefore313 : DictLayout::kValuesFrom313);
}

template <class Keys> void DictEntries::open(uint64_t at) noexcept {
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
