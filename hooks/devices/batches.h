// Bodies of hooks for functions that make several copies in one call. Each copy is recorded.
#pragma once

#include "devices/copies.h"

#include "msleaks/hook/arguments.h"

namespace msleaks::hooks {

struct BatchCopy {
  const void *to, *from;
  size_t bytes;
};
// `as_given` calls the real function with the original parameters. `copyAt(i)` returns a copy. Functions that work in
// the order of a stream have the stream as one more parameter.
template <abi::Family kFamily, class Real, class CopyAt, class... Stream>
auto copyAll(Real as_given, void *caller, size_t count, CopyAt copyAt, Stream... stream) {
  return hook::callRecordedAll<Copy<kFamily, kFlagsOf<Stream...>>>(as_given, caller, count, [&](size_t i) {
    const BatchCopy copy = copyAt(i);
    return hook::Arguments<const void *, const void *, size_t, const void *, int>(copy.to, copy.from, copy.bytes,
                                                                                  streamOf(stream...), 0);
  });
}
// The same for a list of destinations, one of sources and one of sizes. An address may be a number.
template <abi::Family kFamily, class Real, class To, class From, class... Stream>
auto copyLists(Real as_given, void *caller, const To *to, const From *from, const size_t *bytes, size_t count,
               Stream... stream) {
  const bool are_there = to != nullptr && from != nullptr && bytes != nullptr;
  const auto copyAt = [=](size_t i) {
    return BatchCopy{reinterpret_cast<const void *>(to[i]), reinterpret_cast<const void *>(from[i]), bytes[i]};
  };
  return copyAll<kFamily>(as_given, caller, are_there ? count : 0, copyAt, stream...);
}

// The last of the parameters.
template <class Last> constexpr Last lastOf(Last last) { return last; }
template <class First, class... Rest> constexpr auto lastOf(First, Rest... rest) { return lastOf(rest...); }

// A function of CUDA or HIP with such lists. `kStreamOf(real, rest...)` returns the stream.
template <abi::Family kFamily, auto kStreamOf>
inline constexpr auto kCopyLists =
    [](auto real, void *caller, auto *to, auto *from, auto *bytes, size_t count, auto... rest) {
      const auto as_given = [&] { return real(to, from, bytes, count, rest...); };
      return copyLists<kFamily>(as_given, caller, to, from, bytes, count, kStreamOf(real, rest...));
    };

// An end of a copy of up to three dimensions: an address, or an array.
template <class Operand> const void *arrayOf(const Operand &operand) {
  constexpr int kArray = 2;
  return static_cast<int>(operand.type) == kArray ? operand.op.array.array : nullptr;
}
template <class Operand> const void *endOf(const Operand &operand) {
  const void *const array = arrayOf(operand);
  return array != nullptr ? array : reinterpret_cast<const void *>(operand.op.ptr.ptr);
}
// The same for a list of such copies. `kElementBytes` is a form of elementBytes() (devices/copies.h).
template <abi::Family kFamily, auto kElementBytes, class Real, class Operation, class... Stream>
auto copyVolumes(Real as_given, void *caller, const Operation *copies, size_t count, Stream... stream) {
  const auto copyAt = [=](size_t i) {
    const Operation &copy = copies[i];
    const void *const array = arrayOf(copy.dst) != nullptr ? arrayOf(copy.dst) : arrayOf(copy.src);
    const size_t elements = copy.extent.width * copy.extent.height * copy.extent.depth;
    return BatchCopy{endOf(copy.dst), endOf(copy.src), elements * kElementBytes(array)};
  };
  return copyAll<kFamily>(as_given, caller, copies != nullptr ? count : 0, copyAt, stream...);
}
template <abi::Family kFamily, auto kStreamOf, auto kElementBytes>
inline constexpr auto kCopyVolumes = [](auto real, void *caller, size_t count, auto *copies, auto... rest) {
  const auto as_given = [&] { return real(count, copies, rest...); };
  return copyVolumes<kFamily, kElementBytes>(as_given, caller, copies, count, kStreamOf(real, rest...));
};

// The structs of these copies, for a build without the vendor's headers.
template <class Address> struct Operand {
  int type;
  union {
    struct {
      Address ptr;
      size_t rowLength, layerHeight;
      int location[2];
    } ptr;
    struct {
      void *array;
      size_t offset[3];
    } array;
  } op;
};
template <class Address> struct VolumeCopy {
  Operand<Address> src, dst;
  struct {
    size_t width, height, depth;
  } extent;
  int order;
  unsigned flags;
};

// The stream or the description of a node, if it is the last parameter.
inline constexpr auto kLastOne = [](auto, auto... rest) -> const void * { return lastOf(rest...); };

} // namespace msleaks::hooks
