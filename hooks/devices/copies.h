// Bodies of hooks for copies and fills of CUDA and HIP. The number of their bytes has to be computed, or their ends are
// in a struct. Functions that work in the order of a stream have the stream as one more parameter.
#pragma once

#include "devices/device.h"

#include "msleaks/hook.h"

#include <cstddef>

namespace msleaks::hooks {

// The row of a copy. The hook passes these parameters: to, from, bytes, stream, direction.
template <abi::Family kFamily, uint16_t kFlags> struct Copy {
  static constexpr abi::Symbol kRow = {.name = "cudaMemcpy2D",
                                       .verb = abi::Verb::Copy,
                                       .family = kFamily,
                                       .heap = abi::Heap::Device,
                                       .flags = kFlags,
                                       .size = abi::Position(2),
                                       .address = abi::Position(0),
                                       .source = abi::Position(1),
                                       .direction = abi::Position(4),
                                       .stream = abi::Position(3),
                                       .status = true};
};
// The row of a fill. The hook passes these parameters: to, value, bytes, stream.
template <abi::Family kFamily, uint16_t kFlags> struct Fill {
  static constexpr abi::Symbol kRow = {.name = "cudaMemset2D",
                                       .verb = abi::Verb::Set,
                                       .family = kFamily,
                                       .heap = abi::Heap::Device,
                                       .flags = kFlags,
                                       .size = abi::Position(2),
                                       .address = abi::Position(0),
                                       .value = abi::Position(1),
                                       .stream = abi::Position(3),
                                       .status = true};
};

template <class... Stream> inline constexpr uint16_t kFlagsOf = sizeof...(Stream) != 0 ? abi::kAsync : 0;
inline const void *streamOf() { return nullptr; }
inline const void *streamOf(const void *stream) { return stream; }

struct Ends {
  const void *to, *from;
};

// `real` calls the real function with the original parameters.
template <abi::Family kFamily, class Real, class... Stream>
auto copyOf(Real real, void *caller, const Ends &ends, size_t bytes, int direction, Stream... stream) {
  return hook::callRecorded<Copy<kFamily, kFlagsOf<Stream...>>>([&](auto...) { return real(); }, caller, ends.to,
                                                                ends.from, bytes, streamOf(stream...), direction);
}
template <abi::Family kFamily, class Real, class To, class Value, class... Stream>
auto fillOf(Real real, void *caller, To to, Value value, size_t bytes, Stream... stream) {
  return hook::callRecorded<Fill<kFamily, kFlagsOf<Stream...>>>([&](auto...) { return real(); }, caller, to, value,
                                                                bytes, streamOf(stream...));
}

template <abi::Family kFamily>
inline constexpr auto kCopy2D = [](auto real, void *caller, void *to, size_t to_pitch, const void *from,
                                   size_t from_pitch, size_t width, size_t height, auto kind, auto... stream) {
  const auto in_rows = [&] { return real(to, to_pitch, from, from_pitch, width, height, kind, stream...); };
  return copyOf<kFamily>(in_rows, caller, Ends{to, from}, width * height, static_cast<int>(kind), stream...);
};

// Returns the size of an array's elements. If an end of a copy is an array, the copy's width is a number of elements.
// Without an array it is a number of bytes, so the result is 1.
template <hook::Function &kInformation, class Format> size_t elementBytes(const void *array) {
  if (array == nullptr)
    return 1;
  Format format{};
  const bool known =
      callReal<int(Format *, void *, void *, const void *)>(kInformation, &format, nullptr, nullptr, array) == 0;
  return known ? static_cast<size_t>(format.x + format.y + format.z + format.w) / 8 : 1;
}
// Returns the kind of a copy. A copy between devices has none.
template <class Given> constexpr int directionOf(const Given &copy) noexcept {
  if constexpr (requires { copy.kind; })
    return static_cast<int>(copy.kind);
  else
    return 0;
}
template <abi::Family kFamily, hook::Function &kInformation, class Format>
inline constexpr auto kCopy3D = [](auto real, void *caller, auto *copy, auto... stream) {
  const auto as_given = [&] { return real(copy, stream...); };
  if (copy == nullptr)
    return as_given();
  const Ends ends = {copy->dstArray != nullptr ? copy->dstArray : copy->dstPtr.ptr,
                     copy->srcArray != nullptr ? copy->srcArray : copy->srcPtr.ptr};
  const void *const array = copy->dstArray != nullptr ? copy->dstArray : copy->srcArray;
  const size_t bytes =
      elementBytes<kInformation, Format>(array) * copy->extent.width * copy->extent.height * copy->extent.depth;
  return copyOf<kFamily>(as_given, caller, ends, bytes, directionOf(*copy), stream...);
};

// Copies to and from arrays. An array has no pitch: only the driver knows how long its rows are.
template <abi::Family kFamily>
inline constexpr auto kCopyToArray2D = [](auto real, void *caller, auto to, size_t x, size_t y, const void *from,
                                          size_t pitch, size_t width, size_t height, auto kind, auto... stream) {
  const auto in_rows = [&] { return real(to, x, y, from, pitch, width, height, kind, stream...); };
  return copyOf<kFamily>(in_rows, caller, Ends{to, from}, width * height, static_cast<int>(kind), stream...);
};
template <abi::Family kFamily>
inline constexpr auto kCopyFromArray2D = [](auto real, void *caller, void *to, size_t pitch, auto from, size_t x,
                                            size_t y, size_t width, size_t height, auto kind, auto... stream) {
  const auto in_rows = [&] { return real(to, pitch, from, x, y, width, height, kind, stream...); };
  return copyOf<kFamily>(in_rows, caller, Ends{to, from}, width * height, static_cast<int>(kind), stream...);
};
template <abi::Family kFamily>
inline constexpr auto kCopyArrays2D = [](auto real, void *caller, auto to, size_t to_x, size_t to_y, auto from,
                                         size_t from_x, size_t from_y, size_t width, size_t height, auto kind) {
  const auto in_rows = [&] { return real(to, to_x, to_y, from, from_x, from_y, width, height, kind); };
  return copyOf<kFamily>(in_rows, caller, Ends{to, from}, width * height, static_cast<int>(kind));
};

// The driver's numbers for two kinds of memory. For any other kind, the end of the copy is an address of a device.
struct MemoryTypes {
  int host, array;
};
template <class Type, class Device>
const void *endAt(const MemoryTypes &types, Type type, const void *host, Device device, const void *array) {
  if (static_cast<int>(type) == types.host)
    return host;
  return static_cast<int>(type) == types.array ? array : reinterpret_cast<const void *>(device);
}
// Returns the number of layers that a descriptor names. A descriptor of two dimensions has one.
template <class Given> constexpr size_t layersOf(const Given &copy) noexcept {
  if constexpr (requires { copy.Depth; })
    return copy.Depth;
  else
    return 1;
}

// `as_given` calls the real function with the original parameters.
template <abi::Family kFamily, class Given, class Real, class... Stream>
auto copyDescribed(Real as_given, void *caller, const MemoryTypes &types, const Given &copy, Stream... stream) {
  constexpr int kNotSaid = 0;
  const Ends ends = {endAt(types, copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstArray),
                     endAt(types, copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcArray)};
  return copyOf<kFamily>(as_given, caller, ends, size_t{copy.WidthInBytes} * copy.Height * layersOf(copy), kNotSaid,
                         stream...);
}

template <abi::Family kFamily>
inline constexpr auto kFill2D =
    [](auto real, void *caller, void *to, size_t pitch, int value, size_t width, size_t height, auto... stream) {
      const auto in_rows = [&] { return real(to, pitch, value, width, height, stream...); };
      return fillOf<kFamily>(in_rows, caller, to, value, width * height, stream...);
    };
template <abi::Family kFamily>
inline constexpr auto kFill3D = [](auto real, void *caller, auto block, int value, auto extent, auto... stream) {
  const auto in_rows = [&] { return real(block, value, extent, stream...); };
  return fillOf<kFamily>(in_rows, caller, block.ptr, value, extent.width * extent.height * extent.depth, stream...);
};
// Fills with numbers of 8, 16 or 32 bits.
template <abi::Family kFamily>
inline constexpr auto kFillNumbers = [](auto real, void *caller, auto to, auto number, size_t count, auto... stream) {
  const auto as_given = [&] { return real(to, number, count, stream...); };
  return fillOf<kFamily>(as_given, caller, to, number, sizeof number * count, stream...);
};
template <abi::Family kFamily>
inline constexpr auto kFillNumbers2D =
    [](auto real, void *caller, auto to, size_t pitch, auto number, size_t width, size_t height, auto... stream) {
      const auto in_rows = [&] { return real(to, pitch, number, width, height, stream...); };
      return fillOf<kFamily>(in_rows, caller, to, number, sizeof number * width * height, stream...);
    };

} // namespace msleaks::hooks
