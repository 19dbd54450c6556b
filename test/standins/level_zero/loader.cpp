// Imitates libze_loader.so.1 (Level Zero). Each device has two sub-devices. An immediate list runs its commands
// immediately. Any other list runs each time when it is passed to a queue.
#include "../common/machine.h"

#include "standin_module.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <sys/mman.h>

struct _ze_device_handle_t {
  unsigned ordinal;
};
struct _ze_driver_handle_t {};
struct _ze_context_handle_t {};
struct _ze_command_queue_handle_t {
  standin::Stream stream;
};
struct _ze_command_list_handle_t {
  bool immediate, closed = false;
  std::vector<std::function<void()>> work = {};
};
struct _ze_module_handle_t {
  const standin_kernel *kernels;
};
struct _ze_kernel_handle_t {
  const standin_kernel *kernel;
  std::array<uint64_t, 8> arguments;
};
struct _ze_physical_mem_handle_t {
  void *block;
};

namespace {

constexpr unsigned kParts = 2;

bool initialized = false;
_ze_driver_handle_t the_driver;

standin::Machine &machine() {
  static auto *const made = new standin::Machine;
  return *made;
}

// The devices, followed by their sub-devices.
std::vector<_ze_device_handle_t> &handles() {
  static auto *const made = [] {
    auto *all = new std::vector<_ze_device_handle_t>;
    for (unsigned i = 0; i < machine().count(); ++i)
      all->push_back({i});
    for (unsigned i = 0; i < machine().count() * kParts; ++i)
      all->push_back({i / kParts});
    return all;
  }();
  return *made;
}

bool isDevice(ze_device_handle_t device) {
  return std::any_of(handles().begin(), handles().end(), [=](const auto &handle) { return &handle == device; });
}

// Returns at most `*count` devices from `first` on, or all if `*count` is 0. If `into` is null, returns only a number.
ze_result_t list(uint32_t *count, ze_device_handle_t *into, _ze_device_handle_t *first, uint32_t there) {
  if (count == nullptr)
    return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  *count = *count == 0 ? there : std::min(*count, there);
  for (uint32_t i = 0; into != nullptr && i < *count; ++i)
    into[i] = first + i;
  return ZE_RESULT_SUCCESS;
}

ze_result_t allocate(standin::Memory &memory, size_t size, size_t alignment, void **block, ze_result_t none) {
  if (block == nullptr)
    return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  if (size == 0 || size > memory.total())
    return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
  if ((alignment & (alignment - 1)) != 0)
    return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
  *block = memory.allocate(size);
  return *block != nullptr ? ZE_RESULT_SUCCESS : none;
}

ze_result_t append(ze_command_list_handle_t list, std::function<void()> work) {
  if (list->closed)
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  if (list->immediate)
    work();
  else
    list->work.push_back(std::move(work));
  return ZE_RESULT_SUCCESS;
}

ze_result_t launch(ze_command_list_handle_t list, ze_kernel_handle_t kernel, const ze_group_count_t *groups) {
  if (list == nullptr || kernel == nullptr)
    return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
  if (groups == nullptr)
    return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  return append(list, [run = kernel->kernel->run, arguments = kernel->arguments, groups = *groups] {
    run(&groups, arguments.data());
  });
}

template <class Handle> ze_result_t destroy(Handle *handle) {
  if (handle == nullptr)
    return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
  delete handle;
  return ZE_RESULT_SUCCESS;
}

} // namespace

ze_result_t zeInit(uint32_t) {
  initialized = true;
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeDriverGet(uint32_t *count, ze_driver_handle_t *drivers) {
  if (!initialized)
    return ZE_RESULT_ERROR_UNINITIALIZED;
  *count = 1;
  if (drivers != nullptr)
    *drivers = &the_driver;
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeDeviceGet(ze_driver_handle_t driver, uint32_t *count, ze_device_handle_t *devices) {
  if (driver == nullptr)
    return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
  return list(count, devices, handles().data(), machine().count());
}
ze_result_t zeDeviceGetSubDevices(ze_device_handle_t device, uint32_t *count, ze_device_handle_t *parts) {
  if (!isDevice(device))
    return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
  return list(count, parts, handles().data() + machine().count() + device->ordinal * kParts, kParts);
}
ze_result_t zeContextCreate(ze_driver_handle_t, const ze_context_desc_t *, ze_context_handle_t *context) {
  *context = new _ze_context_handle_t;
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeContextDestroy(ze_context_handle_t context) { return destroy(context); }

ze_result_t zeMemAllocDevice(ze_context_handle_t context, const ze_device_mem_alloc_desc_t *wish, size_t size,
                             size_t alignment, ze_device_handle_t device, void **block) {
  if (context == nullptr || device == nullptr)
    return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
  if (wish == nullptr)
    return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  if (!isDevice(device))
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  return allocate(machine().device(device->ordinal), size, alignment, block, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
}
ze_result_t zeMemAllocHost(ze_context_handle_t context, const ze_host_mem_alloc_desc_t *wish, size_t size,
                           size_t alignment, void **block) {
  if (context == nullptr)
    return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
  if (wish == nullptr)
    return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  return allocate(machine().pinned(), size, alignment, block, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
}
// Without a device, uses the first device. Calls another function of the API: hooks must count both calls as one.
ze_result_t zeMemAllocShared(ze_context_handle_t context, const ze_device_mem_alloc_desc_t *wish,
                             const ze_host_mem_alloc_desc_t *host_wish, size_t size, size_t alignment,
                             ze_device_handle_t device, void **block) {
  if (host_wish == nullptr)
    return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  return zeMemAllocDevice(context, wish, size, alignment, device != nullptr ? device : handles().data(), block);
}
ze_result_t zeMemFree(ze_context_handle_t context, void *block) {
  if (context == nullptr)
    return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
  if (block == nullptr)
    return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  return machine().release(block) ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}
ze_result_t zeMemFreeExt(ze_context_handle_t context, const ze_memory_free_ext_desc_t *wish, void *block) {
  return wish != nullptr ? zeMemFree(context, block) : ZE_RESULT_ERROR_INVALID_NULL_POINTER;
}
// A mapping begins at a whole page of the block.
constexpr size_t kPage = 4096;
ze_result_t zePhysicalMemCreate(ze_context_handle_t context, ze_device_handle_t device, ze_physical_mem_desc_t *wish,
                                ze_physical_mem_handle_t *memory) {
  constexpr uint32_t kOnHost = 2;
  if (context == nullptr)
    return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
  if (wish == nullptr || memory == nullptr)
    return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  const bool on_host = (wish->flags & kOnHost) != 0;
  if (!on_host && !isDevice(device))
    return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
  standin::Memory &from = on_host ? machine().pinned() : machine().device(device->ordinal);
  void *block;
  const ze_result_t result = allocate(from, wish->size + kPage, 0, &block, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
  if (result == ZE_RESULT_SUCCESS)
    *memory = new _ze_physical_mem_handle_t{block};
  return result;
}
ze_result_t zePhysicalMemDestroy(ze_context_handle_t, ze_physical_mem_handle_t memory) {
  if (memory != nullptr)
    machine().release(memory->block);
  return destroy(memory);
}
ze_result_t zeVirtualMemMap(ze_context_handle_t, const void *address, size_t size, ze_physical_mem_handle_t memory,
                            size_t, ze_memory_access_attribute_t) {
  const auto from = (reinterpret_cast<uintptr_t>(memory->block) + kPage - 1) / kPage * kPage;
  for (uint32_t i = 0; i < machine().count(); ++i)
    if (machine().device(i).holds(memory->block) &&
        machine().device(i).showAt(const_cast<void *>(address), reinterpret_cast<void *>(from), size))
      return ZE_RESULT_SUCCESS;
  return ZE_RESULT_ERROR_INVALID_ARGUMENT;
}
ze_result_t zeVirtualMemUnmap(ze_context_handle_t, const void *address, size_t size) {
  mmap(const_cast<void *>(address), size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeModuleCreate(ze_context_handle_t, ze_device_handle_t, const ze_module_desc_t *wish,
                           ze_module_handle_t *module, ze_module_build_log_handle_t *) {
  *module = new _ze_module_handle_t{reinterpret_cast<const standin_kernel *>(wish->pInputModule)};
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeModuleDestroy(ze_module_handle_t module) { return destroy(module); }
ze_result_t zeKernelCreate(ze_module_handle_t module, const ze_kernel_desc_t *wish, ze_kernel_handle_t *kernel) {
  for (const standin_kernel *at = module->kernels; at->name != nullptr; ++at)
    if (std::strcmp(at->name, wish->pKernelName) == 0) {
      *kernel = new _ze_kernel_handle_t{at, {}};
      return ZE_RESULT_SUCCESS;
    }
  return ZE_RESULT_ERROR_INVALID_KERNEL_NAME;
}
ze_result_t zeKernelDestroy(ze_kernel_handle_t kernel) { return destroy(kernel); }
ze_result_t zeKernelSetArgumentValue(ze_kernel_handle_t kernel, uint32_t index, size_t size, const void *value) {
  if (index >= kernel->arguments.size() || size > sizeof(uint64_t))
    return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX;
  kernel->arguments[index] = 0;
  if (value != nullptr)
    std::memcpy(&kernel->arguments[index], value, size);
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeCommandQueueCreate(ze_context_handle_t, ze_device_handle_t, const ze_command_queue_desc_t *,
                                 ze_command_queue_handle_t *queue) {
  *queue = new _ze_command_queue_handle_t;
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeCommandQueueDestroy(ze_command_queue_handle_t queue) { return destroy(queue); }
ze_result_t zeCommandQueueExecuteCommandLists(ze_command_queue_handle_t queue, uint32_t count,
                                              ze_command_list_handle_t *lists, ze_fence_handle_t) {
  if (queue == nullptr)
    return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
  if (count == 0)
    return ZE_RESULT_ERROR_INVALID_SIZE;
  for (uint32_t i = 0; i < count; ++i)
    if (!lists[i]->closed)
      return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  for (uint32_t i = 0; i < count; ++i)
    for (const auto &work : lists[i]->work)
      queue->stream.run(work);
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeCommandQueueSynchronize(ze_command_queue_handle_t queue, uint64_t) {
  queue->stream.wait();
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeCommandListCreate(ze_context_handle_t, ze_device_handle_t, const ze_command_list_desc_t *,
                                ze_command_list_handle_t *list) {
  *list = new _ze_command_list_handle_t{.immediate = false};
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeCommandListCreateImmediate(ze_context_handle_t, ze_device_handle_t, const ze_command_queue_desc_t *,
                                         ze_command_list_handle_t *list) {
  *list = new _ze_command_list_handle_t{.immediate = true};
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeCommandListClose(ze_command_list_handle_t list) {
  list->closed = true;
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeCommandListDestroy(ze_command_list_handle_t list) { return destroy(list); }
ze_result_t zeCommandListAppendLaunchKernel(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                                            const ze_group_count_t *groups, ze_event_handle_t, uint32_t,
                                            ze_event_handle_t *) {
  return launch(list, kernel, groups);
}
ze_result_t zeCommandListAppendLaunchCooperativeKernel(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                                                       const ze_group_count_t *groups, ze_event_handle_t, uint32_t,
                                                       ze_event_handle_t *) {
  return launch(list, kernel, groups);
}
ze_result_t zeCommandListAppendMemoryCopy(ze_command_list_handle_t list, void *to, const void *from, size_t size,
                                          ze_event_handle_t, uint32_t, ze_event_handle_t *) {
  if (list == nullptr)
    return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
  if (to == nullptr || from == nullptr)
    return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  return append(list, [=] { std::memmove(to, from, size); });
}
ze_result_t zeCommandListAppendMemoryFill(ze_command_list_handle_t list, void *to, const void *pattern,
                                          size_t pattern_size, size_t size, ze_event_handle_t, uint32_t,
                                          ze_event_handle_t *) {
  if (list == nullptr)
    return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
  if (to == nullptr || pattern == nullptr)
    return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  if (pattern_size == 0 || size % pattern_size != 0)
    return ZE_RESULT_ERROR_INVALID_SIZE;
  const auto *bytes = static_cast<const char *>(pattern);
  return append(list, [=, unit = std::vector<char>(bytes, bytes + pattern_size)] {
    for (size_t at = 0; at < size; at += unit.size())
      std::memcpy(static_cast<char *>(to) + at, unit.data(), unit.size());
  });
}
