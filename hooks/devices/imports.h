// Bodies of hooks that open memory of another process, or of another driver such as Vulkan. The block is in the heap
// `imported`: it has uses and a place, but it is no memory of this program.
#pragma once

#include "devices/arrays.h"

#include "msleaks/hook.h"

namespace msleaks::hooks {

template <abi::Family kFamily, uint16_t kFlags = 0> using Import = Take<kFamily, 1, abi::Heap::Imported, kFlags>;
template <abi::Family kFamily> inline constexpr auto kClosed = kGiven<kFamily, abi::Heap::Imported>;

template <abi::Family kFamily, class Real, class Block>
auto importRecorded(Real real, void *caller, Block *block, size_t bytes) {
  const auto with_size = [&](Block *given, size_t) { return real(given); };
  return hook::callRecorded<Import<kFamily>>(with_size, caller, block, bytes);
}

// Only the driver knows the size. `kRangeOf(begin, bytes, address)` asks it for the block with the address.
template <auto kRangeOf> uint64_t bytesFrom(uint64_t address) {
  uint64_t begin = 0;
  size_t bytes = 0;
  return kRangeOf(&begin, &bytes, address) == 0 ? begin + bytes - address : 0;
}
template <abi::Family kFamily, auto kRangeOf>
inline constexpr auto kOpened = [](auto real, void *caller, auto *block, auto... from) {
  const auto bytes = [=](auto status) {
    return static_cast<int>(status) == 0 && block != nullptr ? bytesFrom<kRangeOf>(numberOf(*block)) : 0;
  };
  return hook::callSized<Take<kFamily, -1, abi::Heap::Imported>>(real, caller, bytes, block, from...);
};

// A buffer or an array of memory that the program has imported as an object. The program frees it like its own.
template <abi::Family kFamily>
inline constexpr auto kMappedBuffer = [](auto real, void *caller, auto *block, auto object, const auto *what) {
  const size_t bytes = what != nullptr ? what->size : 0;
  return importRecorded<kFamily>([=](auto *given) { return real(given, object, what); }, caller, block, bytes);
};
template <class Description> size_t bytesOfArray(const Description &what) {
  if constexpr (requires { what.arrayDesc; })
    return bytesOf(what.arrayDesc) * elementsOfLevels(extentOf(what.arrayDesc), what.numLevels);
  else
    return bytesOf(what.formatDesc) *
           elementsOfLevels({what.extent.width, what.extent.height, what.extent.depth}, what.numLevels);
}
template <abi::Family kFamily>
inline constexpr auto kMappedArray = [](auto real, void *caller, auto *array, auto object, const auto *what) {
  const size_t bytes = what != nullptr ? bytesOfArray(*what) : 0;
  return importRecorded<kFamily>([=](auto *given) { return real(given, object, what); }, caller, array, bytes);
};

// Returns a handle of physical memory of another process. A mapping tells its size.
template <abi::Family kFamily>
inline constexpr auto kImported = [](auto real, void *caller, auto *handle, auto... from) {
  using Handle = Import<kFamily, abi::kDriver>;
  const auto with_size = [=](auto *given, size_t) { return real(given, from...); };
  const auto status = hook::callRecorded<Handle>(with_size, caller, handle, size_t{0});
  if (static_cast<int>(status) == 0)
    endUnseen(kFamily, numberOf(*handle));
  return status;
};

} // namespace msleaks::hooks
