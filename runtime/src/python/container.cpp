#include "container.h"

#include "calls.h"
#include "objects.h"

#include "../unwind/code.h"

#include <cstring>

namespace msleaks::runtime::python {
namespace {

using unwind::copyIfThere;

constexpr uint64_t kPointer = sizeof(uint64_t);

template <class T> T copied(uint64_t at) noexcept {
  T value{};
  return copyIfThere(at, value) ? value : T{};
}

uint64_t typeOf(uint64_t object) noexcept { return copied<uint64_t>(object + python.layout.type); }
uint64_t flagsOf(uint64_t type) noexcept { return copied<uint64_t>(headEndOf(type) + TypeLayout::kFlags); }

uint64_t lastOfList(uint64_t list, uint64_t items) noexcept {
  return copied<uint64_t>(copied<uint64_t>(headEndOf(list) + ListLayout::kItems) + (items - 1) * kPointer);
}

uint64_t firstOfDict(uint64_t dict, uint64_t) noexcept {
  DictEntries entries(dict);
  DictEntry entry;
  return entries.next(entry) ? entry.value : 0;
}

uint64_t oneOfSet(uint64_t set, uint64_t) noexcept {
  constexpr uint64_t kMostSearched = 64, kEntryBytes = 16;
  const auto table = copied<uint64_t>(headEndOf(set) + SetLayout::kTable);
  const auto mask = copied<uint64_t>(headEndOf(set) + SetLayout::kMask);
  for (uint64_t i = 0; i <= mask && i < kMostSearched; ++i)
    if (const auto item = copied<uint64_t>(table + i * kEntryBytes))
      return item;
  return 0;
}

uint64_t lastOfDeque(uint64_t deque, uint64_t) noexcept {
  const auto block = copied<uint64_t>(headEndOf(deque) + DequeLayout::kRightBlock);
  const auto index = copied<uint64_t>(headEndOf(deque) + DequeLayout::kRightIndex);
  return copied<uint64_t>(block + (1 + index % DequeLayout::kBlockItems) * kPointer); // a link precedes the items
}

uint64_t firstOfCache(uint64_t dict, uint64_t) noexcept {
  const uint64_t item = firstOfDict(dict, 0);
  char room[64];
  if (copiedClassName(item, room) != "_lru_list_elem")
    return item;
  return copied<uint64_t>(headEndOf(item) + CacheLayout::kResultOfItem);
}

struct Kind {
  const char *name, *class_name;
  uint64_t flag;     // of the class and of all classes derived from it; 0 = the class is known by its name
  uint64_t inner_at; // where the object has a pointer to the object with the items; 0 = it has them itself
  uint64_t count_at;
  uint64_t (*itemOf)(uint64_t object, uint64_t items) noexcept;
};
constexpr Kind kKinds[] = {{"list", nullptr, TypeLayout::kIsList, 0, ListLayout::kCount, lastOfList},
                           {"dict", nullptr, TypeLayout::kIsDict, 0, DictLayout::kCount, firstOfDict},
                           {"set", "set", 0, 0, SetLayout::kCount, oneOfSet},
                           {"deque", "deque", 0, 0, DequeLayout::kCount, lastOfDeque},
                           {"cache", "_lru_cache_wrapper", 0, CacheLayout::kDict, DictLayout::kCount, firstOfCache}};

// Null: the object is no container. Reads the name of its class only if the flags are not enough.
const Kind *kindOf(uint64_t object) noexcept {
  const uint64_t flags = flagsOf(typeOf(object));
  for (const Kind &kind : kKinds)
    if ((flags & kind.flag) != 0)
      return &kind;
  char room[64];
  const std::string_view name = copiedClassName(object, room);
  for (const Kind &kind : kKinds)
    if (kind.flag == 0 && name == kind.class_name)
      return &kind;
  return nullptr;
}

// From 3.11 on, an object may have its attributes in an array, whose keys its class knows.
uint64_t keysOfArray(uint64_t type) noexcept {
  const uint32_t minor = python.layout.minor;
  const uint64_t offset = minor == 11   ? TypeLayout::kKeysOf311
                          : minor >= 15 ? TypeLayout::kKeysFrom315
                                        : TypeLayout::kKeys;
  return copied<uint64_t>(headEndOf(type) + offset);
}

// Returns 0 if the object has no such array.
uint64_t arrayOf(uint64_t object, uint64_t type) noexcept {
  if (python.layout.minor == 11)
    return copied<uint64_t>(object - TypeLayout::kArrayBefore);
  if (python.layout.minor == 12) {
    const auto word = copied<uint64_t>(object - python.layout.dict_before);
    return (word & 1) != 0 ? word + 1 : 0;
  }
  if ((flagsOf(type) & TypeLayout::kHasArrayInside) == 0)
    return 0;
  const uint64_t array = object + copied<uint64_t>(headEndOf(type) + TypeLayout::kBasicSize);
  return copied<uint8_t>(array + TypeLayout::kIsArrayValid) != 0 ? array : 0;
}

} // namespace

std::string_view copiedClassName(uint64_t object, std::span<char> room) noexcept {
  const auto name = copied<uint64_t>(headEndOf(typeOf(object)) + TypeLayout::kName);
  uint64_t bytes = room.size();
  while (bytes != 0 && !copyIfThere(name, room.data(), bytes)) // the next page may not exist
    bytes /= 2;
  std::string_view whole(room.data(), ::strnlen(room.data(), bytes));
  whole.remove_prefix(whole.rfind('.') + 1);
  return whole;
}

Container containerAt(uint64_t object) noexcept {
  const Kind *kind = kindOf(object);
  if (kind == nullptr)
    return {};
  const uint64_t holder = kind->inner_at != 0 ? copied<uint64_t>(headEndOf(object) + kind->inner_at) : object;
  const auto items = copied<uint64_t>(headEndOf(holder) + kind->count_at);
  return {kind->name, items, items != 0 ? kind->itemOf(holder, items) : 0, kind->flag == TypeLayout::kIsDict};
}

bool isClass(uint64_t object) noexcept { return (flagsOf(typeOf(object)) & TypeLayout::kIsClass) != 0; }

uint64_t dictOfClass(uint64_t type) noexcept { return copied<uint64_t>(headEndOf(type) + TypeLayout::kDict); }

DictEntries attributesOf(uint64_t object) noexcept {
  const uint64_t type = typeOf(object), flags = flagsOf(type);
  if ((flags & TypeLayout::kIsDict) != 0)
    return DictEntries(object);
  if (const uint64_t dict = copiedDictOf(object))
    return DictEntries(dict);
  if ((flags & TypeLayout::kHasManagedDict) == 0 || python.layout.minor < 11)
    return DictEntries(0);
  const uint64_t array = arrayOf(object, type);
  return array != 0 ? DictEntries(keysOfArray(type), array) : DictEntries(0);
}

} // namespace msleaks::runtime::python
