#include "objects.h"

#include "../unwind/code.h"

#include <cstddef>
#include <cstring>
#include <type_traits>

namespace msleaks::runtime::python {

uint64_t dictOf(uint64_t object) noexcept {
  if (object == 0)
    return 0;
  return dictInside(object, valueAt<uint64_t>(object, python.layout.type), [](uint64_t at, auto &value) {
    value = valueAt<std::remove_reference_t<decltype(value)>>(at, 0);
    return true;
  });
}

uint64_t copiedDictOf(uint64_t object) noexcept {
  uint64_t type;
  if (!unwind::copyIfThere(object + python.layout.type, type))
    return 0;
  return dictInside(object, type, [](uint64_t at, auto &value) { return unwind::copyIfThere(at, value); });
}

namespace {

struct DictWords {
  uint64_t count, version, keys, values;
};
static_assert(DictLayout::kCount == offsetof(DictWords, count) &&
              DictLayout::kVersion == offsetof(DictWords, version) && DictLayout::kKeys == offsetof(DictWords, keys) &&
              DictLayout::kValues == offsetof(DictWords, values));

// Without the global lock, another thread may free the dict meanwhile. So the kernel copies the words.
DictWords wordsOf(uint64_t dict) noexcept {
  DictWords words{};
  if (!python.layout.has_no_lock)
    words = valueAt<DictWords>(headEndOf(dict), 0);
  else if (!unwind::copyIfThere(headEndOf(dict), words))
    return {};
  return words;
}

// Returns a hash of the dict's own data. They differ from those of most dicts that later get its address.
uint64_t hashOfDict(uint64_t hash, uint64_t dict, const DictWords &words) noexcept {
  for (const uint64_t word : {dict, words.count, words.keys, words.values})
    hash = (hash ^ word) * 0x9e37'79b9'7f4a'7c15;
  return hash;
}

} // namespace

bool hasVersions() noexcept { return python.layout.minor < 14; }

uint64_t versionOf(uint64_t object) noexcept {
  if (object == 0)
    return 0;
  const auto type = valueAt<uint64_t>(object, python.layout.type);
  const uint64_t dict = dictOf(object);
  if (dict == 0)
    return type;
  const DictWords words = wordsOf(dict);
  return hasVersions() ? words.version : hashOfDict(type, dict, words);
}

std::string_view classNameOf(uint64_t object) noexcept {
  constexpr uint64_t kMostBytes = 128;
  const auto type = valueAt<uint64_t>(object, python.layout.type);
  const char *name = valueAt<const char *>(headEndOf(type), TypeLayout::kName);
  std::string_view whole(name, ::strnlen(name, kMostBytes));
  whole.remove_prefix(whole.rfind('.') + 1); // substr() may throw, and the runtime must not need libstdc++
  return whole;
}

} // namespace msleaks::runtime::python
