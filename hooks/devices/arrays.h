// Bodies of hooks for arrays of CUDA and HIP: blocks whose size follows from a format and up to three dimensions.
#pragma once

#include "devices/memory.h"

namespace msleaks::hooks {

inline size_t orOne(size_t count) { return count != 0 ? count : 1; }

// Return the bytes of an element, from a format of the runtime library or from a descriptor of the driver.
template <class Format>
  requires requires(Format format) { format.w; }
size_t bytesOf(const Format &format) {
  return static_cast<size_t>(format.x + format.y + format.z + format.w) / 8;
}
template <class Descriptor>
  requires requires(Descriptor descriptor) { descriptor.NumChannels; }
size_t bytesOf(const Descriptor &descriptor) {
  switch (static_cast<int>(descriptor.Format)) {
  case 0x02: // 16 bits: unsigned, signed, half
  case 0x09:
  case 0x10:
    return size_t{2} * descriptor.NumChannels;
  case 0x03: // 32 bits: unsigned, signed, float
  case 0x0a:
  case 0x20:
    return size_t{4} * descriptor.NumChannels;
  default: // 8 bits; formats with several planes or with blocks have at least this size
    return descriptor.NumChannels;
  }
}

struct Extent {
  size_t width, height, depth; // 0: the array does not have this dimension
  size_t elements() const { return width * orOne(height) * orOne(depth); }
};
template <class Descriptor> Extent extentOf(const Descriptor &descriptor) {
  if constexpr (requires { descriptor.Depth; })
    return {descriptor.Width, descriptor.Height, descriptor.Depth};
  else
    return {descriptor.Width, descriptor.Height, 0};
}
// Each level is half as large as the one before, in each dimension.
inline size_t elementsOfLevels(Extent extent, unsigned levels) {
  size_t sum = 0;
  for (; levels > 0; --levels) {
    sum += extent.elements();
    if (extent.width <= 1 && extent.height <= 1 && extent.depth <= 1)
      break;
    extent = {orOne(extent.width / 2), extent.height / 2, extent.depth / 2};
  }
  return sum;
}

template <abi::Family kFamily, class Real, class Array>
auto takeArray(Real real, void *caller, Array *array, size_t bytes) {
  const auto with_size = [&](Array *made, size_t) { return real(made); };
  return hook::callRecorded<Take<kFamily, 1>>(with_size, caller, array, bytes);
}

template <abi::Family kFamily>
inline constexpr auto kArray = [](auto real, void *caller, auto *array, const auto *format, size_t width, size_t height,
                                  unsigned flags) {
  const size_t bytes = format != nullptr ? bytesOf(*format) * Extent{width, height, 0}.elements() : 0;
  return takeArray<kFamily>([&](auto *made) { return real(made, format, width, height, flags); }, caller, array, bytes);
};
template <abi::Family kFamily>
inline constexpr auto kArray3D =
    [](auto real, void *caller, auto *array, const auto *format, auto extent, unsigned flags) {
      const Extent size{extent.width, extent.height, extent.depth};
      const size_t bytes = format != nullptr ? bytesOf(*format) * size.elements() : 0;
      return takeArray<kFamily>([&](auto *made) { return real(made, format, extent, flags); }, caller, array, bytes);
    };
template <abi::Family kFamily>
inline constexpr auto kMipmapped = [](auto real, void *caller, auto *array, const auto *format, auto extent,
                                      unsigned levels, unsigned flags) {
  const Extent size{extent.width, extent.height, extent.depth};
  const size_t bytes = format != nullptr ? bytesOf(*format) * elementsOfLevels(size, levels) : 0;
  return takeArray<kFamily>([&](auto *made) { return real(made, format, extent, levels, flags); }, caller, array,
                            bytes);
};
// Arrays of the driver: with two or three dimensions, or with levels.
template <abi::Family kFamily>
inline constexpr auto kDriverArray = [](auto real, void *caller, auto *array, auto *descriptor, auto... levels) {
  size_t bytes = 0;
  if (descriptor != nullptr)
    bytes = bytesOf(*descriptor) * elementsOfLevels(extentOf(*descriptor), (1u * ... * levels));
  return takeArray<kFamily>([&](auto *made) { return real(made, descriptor, levels...); }, caller, array, bytes);
};

} // namespace msleaks::hooks
