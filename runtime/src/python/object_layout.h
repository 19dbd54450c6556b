// Where CPython 3.9 to 3.15 store the parts of classes and dicts. Layout contains what differs for calls.
#pragma once

#include <cstdint>

namespace msleaks::runtime::python {

// PyTypeObject. From 3.11 on, a flag says that the pointer to an object's dict is before the object.
struct TypeLayout {
  static constexpr uint64_t kName = 24, kBasicSize = 32, kFlags = 168, kDict = 264, kDictOffset = 288;
  static constexpr uint64_t kHasManagedDict = 1 << 4, kManagedDictBefore = 24;
  // Flags of a type and of all types derived from it.
  static constexpr uint64_t kIsList = 1 << 25, kIsDict = 1 << 29, kIsClass = uint64_t{1} << 31;
  // From 3.11 on, an object without a dict has an array of attributes. The keys belong to the class. 3.11 has a pointer
  // to the array before the object, and 3.12 has it in the place of the dict. Later, a flag says that the array follows
  // the object.
  static constexpr uint64_t kKeysOf311 = 872, kKeys = 880, kKeysFrom315 = 888, kArrayBefore = 32,
                            kHasArrayInside = 1 << 2, kIsArrayValid = 3;
};

// PyTupleObject. From 3.14 on, it stores its hash before its items.
struct TupleLayout {
  static constexpr uint64_t kCount = 16, kItemsBefore314 = 24, kItemsFrom314 = 32;
};

// PyListObject, PySetObject, and the deque of collections.
struct ListLayout {
  static constexpr uint64_t kCount = 16, kItems = 24;
};
struct SetLayout {
  static constexpr uint64_t kCount = 24, kMask = 32, kTable = 40;
};
struct DequeLayout {
  static constexpr uint64_t kCount = 16, kRightBlock = 32, kRightIndex = 48, kBlockItems = 64;
};

// The object of functools.lru_cache. Its dict has the results, or from a limit on objects that contain them.
struct CacheLayout {
  static constexpr uint64_t kDict = 72, kResultOfItem = 48;
};

// PyDictObject. Up to 3.13 it has a version. If it has an array of values, the entries of its keys have no values.
struct DictLayout {
  static constexpr uint64_t kCount = 16, kVersion = 24, kKeys = 32, kValues = 40;
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
