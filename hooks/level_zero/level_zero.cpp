// Hooks of Level Zero of oneAPI, Intel's driver for GPUs (libze_loader.so.1). The file needs only msleaks/hook.h. So it
// is also the example of hooks that a user builds (docs/hooks.md).
//
// The types are declared here, so that no header of the driver is needed. With -DMSL_VENDOR_HEADERS, the driver's own
// types are used (level_zero/ze_api.h). Then a prototype that differs from the driver's does not compile.
#include "msleaks/hook.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>

#ifdef MSL_VENDOR_HEADERS
#include <level_zero/ze_api.h>
#else
using ze_result_t = int; // 0: success
using ze_driver_handle_t = void *;
using ze_device_handle_t = void *;
using ze_context_handle_t = void *;
using ze_command_list_handle_t = void *;
using ze_command_queue_handle_t = void *;
using ze_fence_handle_t = void *;
using ze_kernel_handle_t = void *;
using ze_module_handle_t = void *;
using ze_event_handle_t = void *;
using ze_physical_mem_handle_t = void *;
using ze_memory_access_attribute_t = int;
using ze_device_mem_alloc_desc_t = void;
using ze_host_mem_alloc_desc_t = void;
using ze_memory_free_ext_desc_t = void;
struct ze_group_count_t {
  uint32_t groupCountX, groupCountY, groupCountZ;
};
struct ze_kernel_desc_t {
  uint32_t stype;
  const void *pNext;
  uint32_t flags;
  const char *pKernelName;
};
struct ze_physical_mem_desc_t {
  uint32_t stype;
  const void *pNext;
  uint32_t flags;
  size_t size;
};
#endif
static_assert(sizeof(ze_result_t) == 4 && sizeof(ze_group_count_t) == 12);
static_assert(offsetof(ze_kernel_desc_t, pKernelName) == 24);
static_assert(offsetof(ze_physical_mem_desc_t, flags) == 16 && offsetof(ze_physical_mem_desc_t, size) == 24);

using namespace msleaks;

namespace {

// The family of OpenCL, because an OpenCL library may call Level Zero, as PoCL does. Both calls then have the same
// family, and msleaks records only the outer call, which is OpenCL's. A process may use both libraries. The runtime
// must never pass a handle of Level Zero to OpenCL, which would crash. So no row has a stream, and kCreate names each
// kernel: otherwise the runtime would ask OpenCL for the name.
constexpr abi::Family kFamily = abi::Family::OpenCl;

// The value of ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST, which older headers of the driver do not declare.
constexpr uint32_t kOnHost = 2;

// Stores the device number of each device handle. Devices are numbered in the order in which zeDeviceGet returns them.
// A sub-device has the number of its device. A handle refers to the same device until the process ends.
class Ordinals {
public:
  uint32_t of(ze_device_handle_t device) const { // 0: not known
    const Known *known = find(device);
    return known != nullptr ? known->ordinal : 0;
  }
  void addDevices(const ze_device_handle_t *devices, uint32_t count) {
    const Alone alone(busy_);
    for (uint32_t i = 0; i < count; ++i)
      if (add(devices[i], devices_))
        ++devices_;
  }
  void addParts(ze_device_handle_t whole, const ze_device_handle_t *parts, uint32_t count) {
    const Alone alone(busy_);
    for (uint32_t i = 0; i < count; ++i)
      add(parts[i], of(whole));
  }

private:
  struct Known {
    ze_device_handle_t device;
    uint32_t ordinal;
  };
  struct Alone {
    explicit Alone(std::atomic_flag &flag) : busy(flag) {
      while (busy.test_and_set(std::memory_order_acquire)) {
      }
    }
    ~Alone() { busy.clear(std::memory_order_release); }
    std::atomic_flag &busy;
  };
  const Known *find(ze_device_handle_t device) const {
    const Known *const end = known_ + count_.load(std::memory_order_acquire);
    const Known *const at = std::find_if(known_, end, [device](const Known &known) { return known.device == device; });
    return at != end ? at : nullptr;
  }
  bool add(ze_device_handle_t device, uint32_t ordinal) {
    const uint32_t count = count_.load(std::memory_order_relaxed);
    if (count == std::size(known_) || find(device) != nullptr)
      return false;
    known_[count] = {device, ordinal};
    count_.store(count + 1, std::memory_order_release);
    return true;
  }
  Known known_[256] = {}; // an array, since a hook must not allocate
  std::atomic<uint32_t> count_ = 0;
  uint32_t devices_ = 0;
  std::atomic_flag busy_;
};
constinit Ordinals ordinals;

// The row of a function that allocates a block. The parameter at position kSize is the number of bytes. The parameter
// at position kBlock points to the variable that gets the block's address.
template <abi::Heap kHeap, int kSize, int kBlock> struct Take {
  static constexpr abi::Symbol kRow = {.name = "zeMemAlloc",
                                       .verb = abi::Verb::Alloc,
                                       .family = kFamily,
                                       .heap = kHeap,
                                       .result = {abi::ResultKind::Out, abi::Position(kBlock)},
                                       .size = abi::Position(kSize)};
};
// The row of a function that frees blocks of device, host and shared memory. All these blocks are in one address space,
// so the heap of the row may differ from the block's heap.
template <int kBlock> struct Give {
  static constexpr abi::Symbol kRow = {.name = "zeMemFree",
                                       .verb = abi::Verb::Free,
                                       .family = kFamily,
                                       .heap = abi::Heap::Device,
                                       .address = abi::Position(kBlock),
                                       .status = true};
};
struct Copy {
  static constexpr abi::Symbol kRow = {.name = "zeCommandListAppendMemoryCopy",
                                       .verb = abi::Verb::Copy,
                                       .family = kFamily,
                                       .heap = abi::Heap::Device,
                                       .flags = abi::kAsync,
                                       .size = abi::Position(3),
                                       .address = abi::Position(1),
                                       .source = abi::Position(2),
                                       .status = true};
};
// The row has no `.value`, because the parameter is a pointer to a pattern of any length.
struct Fill {
  static constexpr abi::Symbol kRow = {.name = "zeCommandListAppendMemoryFill",
                                       .verb = abi::Verb::Set,
                                       .family = kFamily,
                                       .heap = abi::Heap::Device,
                                       .flags = abi::kAsync,
                                       .size = abi::Position(4),
                                       .address = abi::Position(1),
                                       .status = true};
};
// The positions refer to the arguments that the body kLaunch passes to callRecorded: list, kernel, grid, group size.
struct Launch {
  static constexpr abi::Symbol kRow = {.name = "zeCommandListAppendLaunchKernel",
                                       .verb = abi::Verb::Launch,
                                       .family = kFamily,
                                       .heap = abi::Heap::Device,
                                       .kernel = abi::Position(1),
                                       .shape = {abi::ShapeKind::Dim3, abi::Position(2)},
                                       .status = true};
};
// A row without positions means that the accessed memory is unknown. Two functions have this row. The first executes a
// list of commands, which may run several times and much later. The second is an indirect launch, which reads its grid
// from device memory.
struct Unknown {
  static constexpr abi::Symbol kRow = {.name = "zeCommandQueueExecuteCommandLists",
                                       .verb = abi::Verb::Access,
                                       .family = kFamily,
                                       .heap = abi::Heap::Device};
};

// Maps a physical block to addresses, or unmaps these addresses.
struct Map {
  static constexpr abi::Symbol kRow = {.name = "zeVirtualMemMap",
                                       .verb = abi::Verb::Show,
                                       .family = kFamily,
                                       .heap = abi::Heap::Device,
                                       .size = abi::Position(2),
                                       .address = abi::Position(1),
                                       .source = abi::Position(3),
                                       .value = abi::Position(4)};
};
struct Unmap {
  static constexpr abi::Symbol kRow = {.name = "zeVirtualMemUnmap",
                                       .verb = abi::Verb::Show,
                                       .family = kFamily,
                                       .heap = abi::Heap::Device,
                                       .size = abi::Position(2),
                                       .address = abi::Position(1)};
};

// A body does the work that a row cannot describe. In these functions the device is a handle, so the body sets the
// device's number.
constexpr auto kOnDevice = [](auto real, void *caller, ze_context_handle_t context,
                              const ze_device_mem_alloc_desc_t *wish, size_t size, size_t alignment,
                              ze_device_handle_t device, void **block) {
  const hook::WithDevice on(kFamily, ordinals.of(device));
  return hook::callRecorded<Take<abi::Heap::Device, 2, 5>>(real, caller, context, wish, size, alignment, device, block);
};
constexpr auto kShared = [](auto real, void *caller, ze_context_handle_t context,
                            const ze_device_mem_alloc_desc_t *wish, const ze_host_mem_alloc_desc_t *host_wish,
                            size_t size, size_t alignment, ze_device_handle_t device, void **block) {
  const hook::WithDevice on(kFamily, ordinals.of(device));
  return hook::callRecorded<Take<abi::Heap::Managed, 3, 6>>(real, caller, context, wish, host_wish, size, alignment,
                                                            device, block);
};
// The size is in the struct `wish`. So the body passes the size to callRecorded as one more argument, which the real
// function does not get.
//
// The block is a handle: an address in the driver's own host memory. Only in the heap Device may a block have such an
// address. So physical memory of the host is not recorded.
constexpr auto kPhysical = [](auto real, void *caller, ze_context_handle_t context, ze_device_handle_t device,
                              ze_physical_mem_desc_t *wish, ze_physical_mem_handle_t *memory) {
  if (wish == nullptr || (wish->flags & kOnHost) != 0)
    return real(context, device, wish, memory);
  const hook::WithDevice on(kFamily, ordinals.of(device));
  const auto create = [=](ze_physical_mem_handle_t *where, size_t) { return real(context, device, wish, where); };
  return hook::callRecorded<Take<abi::Heap::Device, 1, 0>>(create, caller, memory, wish->size);
};
// The grid is in the struct `groups`. The group size is unknown here (0), because an earlier call of
// zeKernelSetGroupSize has set it.
constexpr auto kLaunch = [](auto real, void *caller, ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                            const ze_group_count_t *groups, ze_event_handle_t signal, uint32_t waits,
                            ze_event_handle_t *events) {
  struct Sizes {
    uint32_t x, y, z;
  };
  const Sizes grid =
      groups != nullptr ? Sizes{groups->groupCountX, groups->groupCountY, groups->groupCountZ} : Sizes{0, 0, 0};
  const auto launch = [=](ze_command_list_handle_t, ze_kernel_handle_t, Sizes, Sizes) {
    return real(list, kernel, groups, signal, waits, events);
  };
  return hook::callRecorded<Launch>(launch, caller, list, kernel, grid, Sizes{0, 0, 0});
};
constexpr auto kCreate = [](auto real, void *, ze_module_handle_t module, const ze_kernel_desc_t *wish,
                            ze_kernel_handle_t *kernel) {
  const ze_result_t result = real(module, wish, kernel);
  if (result == ze_result_t{} && __msl_hook_kernel != nullptr)
    __msl_hook_kernel(abi::Traits(abi::Verb::Launch, kFamily, abi::Heap::Device, 0).packed(), *kernel,
                      wish->pKernelName);
  return result;
};
// The next hooks record nothing. They only number the devices that the calls return.
constexpr auto kDevices = [](auto real, void *, ze_driver_handle_t driver, uint32_t *count,
                             ze_device_handle_t *devices) {
  const ze_result_t result = real(driver, count, devices);
  if (result == ze_result_t{} && devices != nullptr)
    ordinals.addDevices(devices, *count);
  return result;
};
constexpr auto kParts = [](auto real, void *, ze_device_handle_t device, uint32_t *count, ze_device_handle_t *parts) {
  const ze_result_t result = real(device, count, parts);
  if (result == ze_result_t{} && parts != nullptr)
    ordinals.addParts(device, parts, *count);
  return result;
};

} // namespace

MSL_HOOK_WITH(kDevices, libze_loader, ze_result_t, zeDeviceGet, (ze_driver_handle_t, uint32_t *, ze_device_handle_t *))
MSL_HOOK_WITH(kParts, libze_loader, ze_result_t, zeDeviceGetSubDevices,
              (ze_device_handle_t, uint32_t *, ze_device_handle_t *))

MSL_HOOK_WITH(kOnDevice, libze_loader, ze_result_t, zeMemAllocDevice,
              (ze_context_handle_t, const ze_device_mem_alloc_desc_t *, size_t, size_t, ze_device_handle_t, void **))
MSL_HOOK_WITH(kShared, libze_loader, ze_result_t, zeMemAllocShared,
              (ze_context_handle_t, const ze_device_mem_alloc_desc_t *, const ze_host_mem_alloc_desc_t *, size_t,
               size_t, ze_device_handle_t, void **))
using TakeHost = Take<abi::Heap::Pinned, 2, 4>;
MSL_HOOK_AS(TakeHost, libze_loader, ze_result_t, zeMemAllocHost,
            (ze_context_handle_t, const ze_host_mem_alloc_desc_t *, size_t, size_t, void **))
MSL_HOOK_AS(Give<1>, libze_loader, ze_result_t, zeMemFree, (ze_context_handle_t, void *))
MSL_HOOK_AS(Give<2>, libze_loader, ze_result_t, zeMemFreeExt,
            (ze_context_handle_t, const ze_memory_free_ext_desc_t *, void *))
MSL_HOOK_WITH(kPhysical, libze_loader, ze_result_t, zePhysicalMemCreate,
              (ze_context_handle_t, ze_device_handle_t, ze_physical_mem_desc_t *, ze_physical_mem_handle_t *))
MSL_HOOK_AS(Give<1>, libze_loader, ze_result_t, zePhysicalMemDestroy, (ze_context_handle_t, ze_physical_mem_handle_t))
MSL_HOOK_AS(Map, libze_loader, ze_result_t, zeVirtualMemMap,
            (ze_context_handle_t, const void *, size_t, ze_physical_mem_handle_t, size_t, ze_memory_access_attribute_t))
MSL_HOOK_AS(Unmap, libze_loader, ze_result_t, zeVirtualMemUnmap, (ze_context_handle_t, const void *, size_t))

MSL_HOOK_WITH(kCreate, libze_loader, ze_result_t, zeKernelCreate,
              (ze_module_handle_t, const ze_kernel_desc_t *, ze_kernel_handle_t *))
MSL_HOOK_WITH(kLaunch, libze_loader, ze_result_t, zeCommandListAppendLaunchKernel,
              (ze_command_list_handle_t, ze_kernel_handle_t, const ze_group_count_t *, ze_event_handle_t, uint32_t,
               ze_event_handle_t *))
MSL_HOOK_WITH(kLaunch, libze_loader, ze_result_t, zeCommandListAppendLaunchCooperativeKernel,
              (ze_command_list_handle_t, ze_kernel_handle_t, const ze_group_count_t *, ze_event_handle_t, uint32_t,
               ze_event_handle_t *))
MSL_HOOK_AS(Unknown, libze_loader, ze_result_t, zeCommandListAppendLaunchKernelIndirect,
            (ze_command_list_handle_t, ze_kernel_handle_t, const ze_group_count_t *, ze_event_handle_t, uint32_t,
             ze_event_handle_t *))
MSL_HOOK_AS(Unknown, libze_loader, ze_result_t, zeCommandQueueExecuteCommandLists,
            (ze_command_queue_handle_t, uint32_t, ze_command_list_handle_t *, ze_fence_handle_t))

MSL_HOOK_AS(Copy, libze_loader, ze_result_t, zeCommandListAppendMemoryCopy,
            (ze_command_list_handle_t, void *, const void *, size_t, ze_event_handle_t, uint32_t, ze_event_handle_t *))
MSL_HOOK_AS(Fill, libze_loader, ze_result_t, zeCommandListAppendMemoryFill,
            (ze_command_list_handle_t, void *, const void *, size_t, size_t, ze_event_handle_t, uint32_t,
             ze_event_handle_t *))
