// Bodies of hooks that the effects of a row cannot describe. The device of physical memory is in a struct. The size of
// memory with three dimensions has to be computed. A graph is launched as a whole.
#pragma once

#include "devices/unseen_handles.h"

#include "msleaks/hook.h"

#include <cstddef>
#include <type_traits>

namespace msleaks::hooks {

// `kSize`: the position of the size, which may be a parameter that the hook adds.
template <abi::Family kFamily, int kSize, abi::Heap kHeap = abi::Heap::Device, uint16_t kFlags = 0> struct Take {
  static constexpr abi::Symbol kRow = {.name = "cuMemCreate",
                                       .verb = abi::Verb::Alloc,
                                       .family = kFamily,
                                       .heap = kHeap,
                                       .flags = kFlags,
                                       .result = {abi::ResultKind::Out, abi::Position(0)},
                                       .size = abi::Position(kSize)};
};
template <abi::Family kFamily, abi::Heap kHeap = abi::Heap::Device> struct Give {
  static constexpr abi::Symbol kRow = {.name = "cuMemRelease",
                                       .verb = abi::Verb::Free,
                                       .family = kFamily,
                                       .heap = kHeap,
                                       .address = abi::Position(0),
                                       .status = true};
};
template <abi::Family kFamily, abi::Heap kHeap = abi::Heap::Device>
inline constexpr auto kGiven =
    [](auto real, void *caller, auto block) { return hook::callRecorded<Give<kFamily, kHeap>>(real, caller, block); };
template <abi::Family kFamily> struct Launch {
  static constexpr abi::Symbol kRow = {.name = "cudaGraphLaunch",
                                       .verb = abi::Verb::Launch,
                                       .family = kFamily,
                                       .heap = abi::Heap::Device,
                                       .kernel = abi::Position(0),
                                       .stream = abi::Position(1),
                                       .status = true};
};
// The driver has no name for a graph, and would take its handle for a kernel's. So the hook gives the graph a name
// before the runtime can ask the driver.
template <abi::Family kFamily>
inline constexpr auto kGraph = [](auto real, void *caller, auto graph, auto stream) {
  constexpr uint32_t kTraits = abi::Traits(abi::Verb::Launch, kFamily, abi::Heap::Device, 0).packed();
  if (__msl_hook_kernel != nullptr)
    __msl_hook_kernel(kTraits, graph, "graph");
  return hook::callRecorded<Launch<kFamily>>(real, caller, graph, stream);
};
// Returns a handle as a number. In HIP, a handle is a pointer.
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

// Allocates physical memory of a device or of the host. The driver locks the host's pages. Memory of another kind,
// which a later driver may have, is not recorded.
template <abi::Family kFamily>
inline constexpr auto kPhysical =
    [](auto real, void *caller, auto *handle, size_t bytes, const auto *property, unsigned long long flags) {
      constexpr int kOnDevice = 1, kOnHost = 2, kOnCurrentNode = 4; // 3: on a NUMA node of the host
      const int kind = property != nullptr ? static_cast<int>(property->location.type) : 0;
      if (kind < kOnDevice || kind > kOnCurrentNode)
        return afterUnseen<kFamily>(real(handle, bytes, property, flags), handle);
      const auto ended = [=](auto status) {
        if (static_cast<int>(status) == 0)
          endUnseen(kFamily, numberOf(*handle));
        return status;
      };
      using OnHost = Take<kFamily, 1, abi::Heap::Pinned, abi::kDriver>;
      if (kind >= kOnHost)
        return ended(hook::callRecorded<OnHost>(real, caller, handle, bytes, property, flags));
      const hook::WithDevice device(kFamily, static_cast<uint32_t>(property->location.id));
      return ended(hook::callRecorded<Take<kFamily, 1>>(real, caller, handle, bytes, property, flags));
    };
// Creates an object that several devices share, and stores its handle at the first parameter.
template <abi::Family kFamily>
inline constexpr auto kShared =
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
template <class Row>
inline constexpr auto kMapped =
    [](auto real, void *caller, auto address, size_t bytes, size_t offset, auto handle, unsigned long long flags) {
      if (isUnseen(Row::kRow.family, numberOf(handle)))
        return real(address, bytes, offset, handle, flags);
      return hook::callRecorded<Row>(real, caller, address, bytes, offset, handle, flags);
    };

// Records the size that the program asks for. The driver allocates longer rows.
template <abi::Family kFamily>
inline constexpr auto kPitched3D = [](auto real, void *caller, auto *block, auto extent) {
  const auto with_size = [=](void **, size_t) { return real(block, extent); };
  void **const where = block != nullptr ? &block->ptr : nullptr;
  return hook::callRecorded<Take<kFamily, 1>>(with_size, caller, where, extent.width * extent.height * extent.depth);
};

// Returns the handle of the physical memory at an address. This adds an owner to the memory.
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
