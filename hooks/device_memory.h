// What of CUDA, and of HIP alike, a row alone cannot say: physical memory, whose device stands in a property; memory of
// three dimensions, whose size somebody has to work out; graphs, which are launched as one.
#pragma once

#include "unseen_handles.h"

#include "msleaks/hook.h"

#include <cstddef>
#include <type_traits>

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
// A graph is no kernel that the driver has a name of: asked for it, the driver would believe that it is one.
template <abi::Family kFamily>
inline constexpr auto kGraph = [](auto real, void *caller, auto graph, auto stream) {
  constexpr uint32_t kTraits = abi::Traits(abi::Verb::Launch, kFamily, abi::Heap::Device, 0).packed();
  if (__msl_hook_kernel != nullptr)
    __msl_hook_kernel(kTraits, graph, "graph");
  return hook::callRecorded<Launch<kFamily>>(real, caller, graph, stream);
};
// The number of a handle, which is a pointer in HIP.
template <class Handle> uint64_t numberOf(Handle handle) {
  if constexpr (std::is_pointer_v<Handle>)
    return reinterpret_cast<uint64_t>(handle);
  else
    return handle;
}
template <abi::Family kFamily, class Status, class Handle> Status afterUnseen(Status status, const Handle *handle) {
  if (static_cast<int>(status) == 0 && handle != nullptr)
    keepUnseen(kFamily, numberOf(*handle));
  return status;
}

// A device's. The host's is no block of ours.
template <abi::Family kFamily>
inline constexpr auto kPhysical =
    [](auto real, void *caller, auto *handle, size_t bytes, const auto *property, unsigned long long flags) {
      constexpr int kOnDevice = 1;
      const bool is_on_device = property != nullptr && static_cast<int>(property->location.type) == kOnDevice;
      if (!is_on_device)
        return afterUnseen<kFamily>(real(handle, bytes, property, flags), handle);
      const hook::WithDevice device(kFamily, static_cast<uint32_t>(property->location.id));
      const auto status = hook::callRecorded<Take<kFamily, 1>>(real, caller, handle, bytes, property, flags);
      if (static_cast<int>(status) == 0)
        endUnseen(kFamily, numberOf(*handle));
      return status;
    };
// Memory of another process, or an object that several devices share: its handle is the first parameter's.
template <abi::Family kFamily>
inline constexpr auto kImported =
    [](auto real, void *, auto *handle, auto... from) { return afterUnseen<kFamily>(real(handle, from...), handle); };
template <abi::Family kFamily>
inline constexpr auto kReleased = [](auto real, void *caller, auto handle) {
  if (!isUnseen(kFamily, numberOf(handle)))
    return hook::callRecorded<Give<kFamily>>(real, caller, handle);
  const auto status = real(handle);
  if (static_cast<int>(status) == 0)
    dropUnseen(kFamily, numberOf(handle));
  return status;
};
// `kName`: the function's row.
template <hook::Name kName>
inline constexpr auto kMapped = [](auto real, void *caller, auto address, size_t bytes, size_t offset, auto handle,
                                   unsigned long long flags) {
  using Row = hook::Known<kName>;
  if (isUnseen(Row::kRow.family, numberOf(handle)))
    return real(address, bytes, offset, handle, flags);
  return hook::callRecorded<Row>(real, caller, address, bytes, offset, handle, flags);
};

// What it asks for: the driver makes rows longer.
template <abi::Family kFamily>
inline constexpr auto kPitched3D = [](auto real, void *caller, auto *block, auto extent) {
  const auto with_size = [=](void **, size_t) { return real(block, extent); };
  void **const where = block != nullptr ? &block->ptr : nullptr;
  return hook::callRecorded<Take<kFamily, 1>>(with_size, caller, where, extent.width * extent.height * extent.depth);
};

// One more owner of the physical memory that an address shows: its handle, which the call stores.
template <abi::Family kFamily> struct Retain {
  static constexpr abi::Symbol kRow = {.name = "cuMemRetainAllocationHandle",
                                       .verb = abi::Verb::Retain,
                                       .family = kFamily,
                                       .heap = abi::Heap::Device,
                                       .address = abi::Position(0)};
};
template <abi::Family kFamily>
inline constexpr auto kRetained = [](auto real, void *caller, auto *handle, void *address) {
  const auto status = real(handle, address);
  if (static_cast<int>(status) == 0 && isUnseen(kFamily, numberOf(*handle)))
    keepUnseen(kFamily, numberOf(*handle));
  else if (static_cast<int>(status) == 0)
    hook::callRecorded<Retain<kFamily>>([](auto) {}, caller, *handle);
  return status;
};

} // namespace msleaks::hooks
