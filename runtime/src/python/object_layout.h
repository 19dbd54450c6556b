// Where CPython 3.9 to 3.15 store the parts of classes, dicts and other containers. Layout contains what differs for
// calls. The offsets are from the end of the object's head (headEndOf).
#pragma once

#include <cstdint>

namespace msleaks::runtime::python {

// PyTypeObject. From 3.11 on, a flag says that the pointer to an object's dict is before the object (Layout).
struct TypeLayout {
  static constexpr uint64_t kName = 8, kBasicSize = 16, kFlags = 152, kDict = 248, kDictOffset = 272;
  static constexpr uint64_t kHasManagedDict = 1 << 4;
  // Flags of a type and of all types derived from it.
  static constexpr uint64_t kIsList = 1 << 25, kIsDict = 1 << 29, kIsClass = uint64_t{1} << 31;
  // From 3.11 on, an object without a dict has an array of attributes. The keys belong to the class. 3.11 has a pointer
  // to the array before the object, and 3.12 has it in the place of the dict. Later, a flag says that the array follows
  // the object. `kArrayBefore` is from the object's begin.
  static constexpr uint64_t kKeysOf311 = 856, kKeys = 864, kKeysFrom315 = 872, kArrayBefore = 32,
                            kHasArrayInside = 1 << 2, kIsArrayValid = 3;
};

// PyTupleObject. From 3.14 on, it stores its hash before its items.
struct TupleLayout {
  static constexpr uint64_t kCount = 0, kItemsBefore314 = 8, kItemsFrom314 = 16;
};

// PyListObject, PySetObject, and the deque of collections.
struct ListLayout {
  static constexpr uint64_t kCount = 0, kItems = 8;
};
struct SetLayout {
  static constexpr uint64_t kCount = 8, kMask = 16, kTable = 24;
};
struct DequeLayout {
  static constexpr uint64_t kCount = 0, kRightBlock = 16, kRightIndex = 32, kBlockItems = 64;
};

// The object of functools.lru_cache. Its dict has the results, or from a limit on objects that contain them.
struct CacheLayout {
  static constexpr uint64_t kDict = 56, kResultOfItem = 32;
};

// PyDictObject. Up to 3.13 it has a version. If it has an array of values, the entries of its keys have no values.
struct DictLayout {
  static constexpr uint64_t kCount = 0, kVersion = 8, kKeys = 16, kValues = 24;
  static constexpr uint64_t kValuesBefore313 = 0, kValuesFrom313 = 8; // in the array: the first value
};

// PyDictKeysObject: a table of indices follows this header, and then the entries. Each entry ends with a key and a
// value. The words of the header are those that a reader needs.
struct KeysBefore311 {
  uint64_t references, size, lookup, usable, entries;
  uint64_t indexBytes() const noexcept { return size * (size <= 0xff ? 1 : size <= 0xffff ? 2 : 4); }
  uint64_t entryBytes() const noexcept { return 24; }
};
struct KeysFrom311 {
  uint64_t references;
  uint8_t size_bits, index_bits, kind, reserved[5];
  uint64_t usable, entries;
  uint64_t indexBytes() const noexcept { return uint64_t{1} << (index_bits & 31); }
  uint64_t entryBytes() const noexcept { return kind == 0 ? 24 : 16; } // otherwise, all keys are texts
};

} // namespace msleaks::runtime::python
