// Reads containers of the program: lists, dicts, sets, deques and the caches of functools.lru_cache. Other threads may
// change or free them meanwhile, so the kernel copies each piece of memory.
#pragma once

#include "dict_entries.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace msleaks::runtime::python {

struct Container {
  const char *kind; // "list", "dict", "set", "deque" or "cache"; null = the object is no container
  uint64_t items;   // number of items
  uint64_t item;    // one of the items, of a dict one of the values; 0 = not known
  bool is_dict;
};

Container containerAt(uint64_t object) noexcept;

// Returns the name of the object's class, without its modules. The name is written to `room`; long names are cut.
std::string_view copiedClassName(uint64_t object, std::span<char> room) noexcept;

bool isClass(uint64_t object) noexcept;
uint64_t dictOfClass(uint64_t type) noexcept; // the dict with its attributes; 0 = none

// The attributes of an object, or the entries of a dict.
DictEntries attributesOf(uint64_t object) noexcept;

} // namespace msleaks::runtime::python
