// Reads objects of Python that cannot end meanwhile, such as a local variable of the thread's own calls.
#pragma once

#include "calls.h"
#include "object_layout.h"

#include <string_view>

namespace msleaks::runtime::python {

// Returns the dict with the attributes of an object of this class, or 0 if it has none. `read(address, value)` reads a
// value of memory, and returns whether it could.
template <class Read> uint64_t dictInside(uint64_t object, uint64_t type, Read read) noexcept {
  uint64_t dict = 0;
  if (python.layout.minor < 11) {
    int64_t offset = 0;
    return read(headEndOf(type) + TypeLayout::kDictOffset, offset) && offset > 0 &&
                   read(object + static_cast<uint64_t>(offset), dict)
               ? dict
               : 0;
  }
  uint64_t flags = 0;
  if (!read(headEndOf(type) + TypeLayout::kFlags, flags) || (flags & TypeLayout::kHasManagedDict) == 0 ||
      !read(object - python.layout.dict_before, dict))
    return 0;
  return (dict & 1) == 0 ? dict : 0; // 3.12: the lowest bit marks an object whose attributes are in no dict yet
}

// Returns the dict with the object's attributes, or 0 if it has none.
uint64_t dictOf(uint64_t object) noexcept;
// The same for an object that another thread may free. So the kernel copies the words.
uint64_t copiedDictOf(uint64_t object) noexcept;

// Returns a number that tells the object from later ones at the same address. Up to 3.13, it is the version of the
// object's dict. Python never uses a version twice, and changes it if the object gets a new attribute or value. Later
// dicts have no versions. There the number is a hash of the class and of the dict's data, so two objects may have it.
uint64_t versionOf(uint64_t object) noexcept;
bool hasVersions() noexcept; // of dicts, in this Python

// Returns the name of the object's class, without its modules. Long names are cut.
std::string_view classNameOf(uint64_t object) noexcept;

} // namespace msleaks::runtime::python
