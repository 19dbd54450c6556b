// Hooks of Level Zero of oneAPI, Intel's driver for GPUs (libze_loader.so.1).
#include "level_zero/types.h"

#include "core/rows.h"
#include "devices/device.h"
#include "devices/memory.h"

#include <algorithm>
#include <atomic>
#include <iterator>

using namespace msleaks;
using namespace msleaks::hooks;

namespace {

// The family of OpenCL, because an OpenCL library may call Level Zero, as PoCL does. Both calls then have the same
// family, and msleaks records only the outer call, which is OpenCL's. A process may use both libraries. The runtime
// must never pass a handle of Level Zero to OpenCL, which would crash. So no row has a stream, and kCreated names each
// kernel: otherwise the runtime would ask OpenCL for the name.
constexpr abi::Family kFamily = abi::Family::OpenCl;

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

MSL_ASKED(address_range, "libze_loader", "zeMemGetAddressRange")
MSL_ASKED(image_memory, "libze_loader", "zeImageGetMemoryPropertiesExp")

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
// A body does the work that a row cannot describe. In these functions the device is a handle, so the body sets the
// device's number. The device is the last parameter but one.
template <hook::Name kName>
constexpr auto kOnDevice = [](auto real, void *caller, auto... parameters) {
  const hook::Arguments values(parameters...);
  const hook::WithDevice on(kFamily, ordinals.of(values.template get<-2>()));
  return hook::callRecorded<hook::Known<kName>>(real, caller, parameters...);
};
// The size is in the struct `wish`. So the body passes the size to callRecorded as one more argument, which the real
// function does not get.
//
// The block is a handle: an address in the driver's own host memory. Only in the heap Device may a block have such an
// address. So physical memory of the host is not recorded.
constexpr auto kPhysicalOf = [](auto real, void *caller, ze_context_handle_t context, ze_device_handle_t device,
                                ze_physical_mem_desc_t *wish, ze_physical_mem_handle_t *memory) {
  constexpr uint32_t kOnHost = 2; // ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST, which older headers do not declare
  if (wish == nullptr || (wish->flags & kOnHost) != 0)
    return real(context, device, wish, memory);
  const hook::WithDevice on(kFamily, ordinals.of(device));
  const auto create = [=](ze_physical_mem_handle_t *where, size_t) { return real(context, device, wish, where); };
  return hook::callRecorded<Take<kFamily, 1>>(create, caller, memory, wish->size);
};
// The driver is asked for the size of an image, because its rows may be padded.
constexpr auto kImage = [](auto real, void *caller, ze_context_handle_t context, ze_device_handle_t device,
                           const ze_image_desc_t *wish, ze_image_handle_t *image) {
  const hook::WithDevice on(kFamily, ordinals.of(device));
  const auto bytes = [=](ze_result_t result) -> uint64_t {
    using Ask = int(ze_image_handle_t, ze_image_memory_properties_exp_t *);
    ze_image_memory_properties_exp_t memory{};
    memory.stype = static_cast<decltype(memory.stype)>(0x00020007);
    const bool is_known = result == ze_result_t{} && callReal<Ask>(image_memory, *image, &memory) == 0;
    return is_known ? memory.size : 0;
  };
  const auto create = [=](ze_image_handle_t *where) { return real(context, device, wish, where); };
  return hook::callSized<Take<kFamily, -1, abi::Heap::Device, abi::kDriver>>(create, caller, bytes, image);
};
constexpr auto kOpenedByDevice = [](auto real, void *caller, ze_context_handle_t context, ze_device_handle_t device,
                                    ze_ipc_mem_handle_t handle, uint32_t flags, void **block) {
  const hook::WithDevice on(kFamily, ordinals.of(device));
  const auto bytes = [=](ze_result_t result) -> uint64_t {
    using Ask = int(ze_context_handle_t, const void *, void **, size_t *);
    void *begin = nullptr;
    size_t size = 0;
    const bool is_known = result == ze_result_t{} && callReal<Ask>(address_range, context, *block, &begin, &size) == 0;
    return is_known ? reinterpret_cast<uint64_t>(begin) + size - reinterpret_cast<uint64_t>(*block) : 0;
  };
  const auto open = [=](void **where) { return real(context, device, handle, flags, where); };
  return hook::callSized<Take<kFamily, -1, abi::Heap::Imported>>(open, caller, bytes, block);
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
template <hook::Name kName>
constexpr auto kCreated =
    [](auto real, void *caller, ze_module_handle_t module, const ze_kernel_desc_t *wish, ze_kernel_handle_t *kernel) {
      const ze_result_t result = hook::callRecorded<hook::Known<kName>>(real, caller, module, wish, kernel);
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

#define MSL_PART_PLAIN
#include "msleaks/abi/functions/level_zero.def"
