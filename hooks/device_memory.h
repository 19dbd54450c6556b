// What of CUDA, and of HIP alike, a row alone cannot say: physical memory, whose device stands in a property; memory of
// two and three dimensions, whose size somebody has to work out; graphs, which are launched as one.
#pragma once

#include "msleaks/hook.h"

#include <cstddef>

namespace msleaks::hooks {

// `kSize`: the parameter that is the size, or one more that we add.
template <abi::Family kFamily, int kSize> struct Take {
  static constexpr abi::Symbol kRow = {.name = "cuMemCreate",
                                       .verb = abi::Verb::Alloc,
                                       .family = kFamily,
                                       .heap = abi::Heap::Device,
                                       .result = {abi::ResultKind::Out, abi::Position(0)},
                                       .size = abi::Position(kSize)};
};
template <abi::Family kFamily> struct Give {
  static constexpr abi::Symbol kRow = {.name = "cuMemRelease",
                                       .verb = abi::Verb::Free,
                                       .family = kFamily,
                                       .heap = abi::Heap::Device,
                                       .address = abi::Position(0),
                                       .status = true};
};
template <abi::Family kFamily> struct Launch {
  static constexpr abi::Symbol kRow = {.name = "cudaGraphLaunch",
                                       .verb = abi::Verb::Launch,
                                       .family = kFamily,
                                       .heap = abi::Heap::Device,
                                       .kernel = abi::Position(0),
                                       .stream = abi::Position(1),
                                       .status = true};
};
// To, from, bytes, stream, direction: the parameters that we hand on.
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

// A device's, not the host's: the others are not hooked.
template <abi::Family kFamily>
inline constexpr auto kPhysical =
    [](auto real, void *caller, auto *handle, size_t bytes, const auto *property, unsigned long long flags) {
      constexpr int kOnDevice = 1;
      const bool is_on_device = property != nullptr && static_cast<int>(property->location.type) == kOnDevice;
      if (!is_on_device)
        return real(handle, bytes, property, flags);
      const hook::WithDevice device(kFamily, static_cast<uint32_t>(property->location.id));
      return hook::callRecorded<Take<kFamily, 1>>(real, caller, handle, bytes, property, flags);
    };

// Of an element, in bytes.
template <class Format> size_t bytesOf(const Format *format) {
  return format != nullptr ? static_cast<size_t>(format->x + format->y + format->z + format->w) / 8 : 0;
}
inline size_t orOne(size_t count) { return count != 0 ? count : 1; }

template <abi::Family kFamily>
inline constexpr auto kArray =
    [](auto real, void *caller, auto *array, const auto *format, size_t width, size_t height, unsigned flags) {
      const auto with_size = [=](auto *made, size_t) { return real(made, format, width, height, flags); };
      return hook::callRecorded<Take<kFamily, 1>>(with_size, caller, array, bytesOf(format) * width * orOne(height));
    };
template <abi::Family kFamily>
inline constexpr auto kArray3D =
    [](auto real, void *caller, auto *array, const auto *format, auto extent, unsigned flags) {
      const auto with_size = [=](auto *made, size_t) { return real(made, format, extent, flags); };
      const size_t elements = extent.width * orOne(extent.height) * orOne(extent.depth);
      return hook::callRecorded<Take<kFamily, 1>>(with_size, caller, array, bytesOf(format) * elements);
    };
// What it asks for: the driver makes rows longer.
template <abi::Family kFamily>
inline constexpr auto kPitched3D = [](auto real, void *caller, auto *block, auto extent) {
  const auto with_size = [=](void **, size_t) { return real(block, extent); };
  void **const where = block != nullptr ? &block->ptr : nullptr;
  return hook::callRecorded<Take<kFamily, 1>>(with_size, caller, where, extent.width * extent.height * extent.depth);
};

template <abi::Family kFamily>
inline constexpr auto kCopy2D = [](auto real, void *caller, void *to, size_t to_pitch, const void *from,
                                   size_t from_pitch, size_t width, size_t height, auto kind) {
  const auto in_rows = [=](void *, const void *, size_t, void *, int) {
    return real(to, to_pitch, from, from_pitch, width, height, kind);
  };
  void *const none = nullptr;
  return hook::callRecorded<Copy<kFamily, 0>>(in_rows, caller, to, from, width * height, none, static_cast<int>(kind));
};
template <abi::Family kFamily>
inline constexpr auto kCopy2DAsync = [](auto real, void *caller, void *to, size_t to_pitch, const void *from,
                                        size_t from_pitch, size_t width, size_t height, auto kind, auto stream) {
  const auto in_rows = [=](void *, const void *, size_t, void *, int) {
    return real(to, to_pitch, from, from_pitch, width, height, kind, stream);
  };
  void *const given = stream;
  return hook::callRecorded<Copy<kFamily, abi::kAsync>>(in_rows, caller, to, from, width * height, given,
                                                        static_cast<int>(kind));
};

} // namespace msleaks::hooks
