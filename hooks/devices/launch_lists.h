// Bodies of hooks that launch a list of kernels, each on a stream of another device.
#pragma once

#include "msleaks/hook.h"

#include <cstddef>

namespace msleaks::hooks {

// An element of a list of the runtime library (cudaLaunchParams), and of the driver (CUDA_LAUNCH_PARAMS).
struct LaunchOfRuntime {
  const void *kernel;
  struct {
    unsigned x, y, z;
  } grid, block;
  void **arguments;
  size_t shared;
  const void *stream;
};
struct LaunchOfDriver {
  const void *kernel;
  struct {
    unsigned x, y, z;
  } grid, block;
  unsigned shared;
  const void *stream;
  void **arguments;
};

template <abi::Family kFamily> struct LaunchOfList {
  static constexpr abi::Symbol kRow = {.name = "cudaLaunchCooperativeKernelMultiDevice",
                                       .verb = abi::Verb::Launch,
                                       .family = kFamily,
                                       .heap = abi::Heap::Device,
                                       .kernel = abi::Position(0),
                                       .stream = abi::Position(1),
                                       .shared = abi::Position(4),
                                       .shape = {abi::ShapeKind::Dim3, abi::Position(2)},
                                       .status = true};
};

// Records a launch for each element. `kDeviceOf(stream)` returns the number of the stream's device; -1: not known.
template <abi::Family kFamily, class Element, auto kDeviceOf>
inline constexpr auto kLaunchList = [](auto real, void *caller, auto *list, auto count, unsigned flags) {
  using Size = decltype(Element::grid);
  using Values = hook::Arguments<const void *, const void *, Size, Size, size_t>;
  using Callbacks = hook::Callbacks<LaunchOfList<kFamily>, Values>;
  const auto *const elements = reinterpret_cast<const Element *>(list);
  const auto valuesOf = [](const Element &element) {
    return Values(element.kernel, element.stream, element.grid, element.block, element.shared);
  };
  hook::Call call{Callbacks::kTraits, hook::kPass, reinterpret_cast<uint64_t>(caller), 0, 0, 0};
  if (elements != nullptr && count != 0)
    __msl_hook_enter(&call);
  if (call.answer != hook::kRecord)
    return real(list, count, flags);
  for (decltype(count) i = 0; i < count; ++i) {
    const int device = kDeviceOf(elements[i].stream);
    if (device < 0) {
      Callbacks::before(call.site, valuesOf(elements[i]));
      continue;
    }
    const hook::WithDevice chosen(kFamily, static_cast<uint32_t>(device));
    Callbacks::before(call.site, valuesOf(elements[i]));
  }
  __msl_hook_begin(&call);
  const auto status = real(list, count, flags);
  __msl_hook_end(&call);
  if (static_cast<int>(status) != 0) // of the last recorded launch
    Callbacks::afterStatus(call.site, valuesOf(elements[count - 1]), status);
  return status;
};

} // namespace msleaks::hooks
