// Imitates the calls of Level Zero that only programs/level_zero_calls.c makes. These are handles without memory of a
// device, images, memory of another process, and commands whose effect no test looks at.
#include <level_zero/ze_api.h>

#include <cstdlib>
#include <cstring>

struct _ze_event_pool_handle_t {};
struct _ze_event_handle_t {};
struct _ze_fence_handle_t {};
struct _ze_sampler_handle_t {};
struct _ze_module_build_log_handle_t {};
struct _ze_image_handle_t {
  uint64_t bytes;
};

namespace {

template <class Handle> ze_result_t make(Handle **into) {
  if (into != nullptr)
    *into = new Handle;
  return ZE_RESULT_SUCCESS;
}
template <class Handle> ze_result_t destroy(Handle *handle) {
  delete handle;
  return ZE_RESULT_SUCCESS;
}

constexpr size_t kShared = 4096; // a block of another process

} // namespace

ze_result_t zeContextCreateEx(ze_driver_handle_t driver, const ze_context_desc_t *wish, uint32_t, ze_device_handle_t *,
                              ze_context_handle_t *context) {
  return zeContextCreate(driver, wish, context); // hooks must count both calls as one
}
ze_result_t zeEventPoolCreate(ze_context_handle_t, const ze_event_pool_desc_t *, uint32_t, ze_device_handle_t *,
                              ze_event_pool_handle_t *pool) {
  return make(pool);
}
ze_result_t zeEventPoolDestroy(ze_event_pool_handle_t pool) { return destroy(pool); }
ze_result_t zeEventPoolOpenIpcHandle(ze_context_handle_t, ze_ipc_event_pool_handle_t, ze_event_pool_handle_t *pool) {
  return make(pool);
}
ze_result_t zeEventPoolCloseIpcHandle(ze_event_pool_handle_t pool) { return destroy(pool); }
ze_result_t zeEventCreate(ze_event_pool_handle_t, const ze_event_desc_t *, ze_event_handle_t *event) {
  return make(event);
}
ze_result_t zeEventDestroy(ze_event_handle_t event) { return destroy(event); }
ze_result_t zeFenceCreate(ze_command_queue_handle_t, const ze_fence_desc_t *, ze_fence_handle_t *fence) {
  return make(fence);
}
ze_result_t zeFenceDestroy(ze_fence_handle_t fence) { return destroy(fence); }
ze_result_t zeSamplerCreate(ze_context_handle_t, ze_device_handle_t, const ze_sampler_desc_t *,
                            ze_sampler_handle_t *sampler) {
  return make(sampler);
}
ze_result_t zeSamplerDestroy(ze_sampler_handle_t sampler) { return destroy(sampler); }
ze_result_t zeModuleDynamicLink(uint32_t, ze_module_handle_t *, ze_module_build_log_handle_t *log) { return make(log); }
ze_result_t zeModuleBuildLogDestroy(ze_module_build_log_handle_t log) { return destroy(log); }

// A handle of memory holds the block's address. The opened block is a new one.
ze_result_t zeMemGetAddressRange(ze_context_handle_t, const void *address, void **begin, size_t *bytes) {
  *begin = const_cast<void *>(address);
  *bytes = kShared;
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeMemGetIpcHandle(ze_context_handle_t, const void *block, ze_ipc_mem_handle_t *handle) {
  std::memcpy(handle->data, &block, sizeof block);
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeMemOpenIpcHandle(ze_context_handle_t, ze_device_handle_t, ze_ipc_mem_handle_t handle, uint32_t,
                               void **block) {
  const void *of = nullptr;
  std::memcpy(&of, handle.data, sizeof of);
  if (of == nullptr)
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  *block = std::malloc(kShared);
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeMemCloseIpcHandle(ze_context_handle_t, const void *block) {
  std::free(const_cast<void *>(block));
  return ZE_RESULT_SUCCESS;
}
// An element of an image has 4 bytes, and a row is padded to 64.
ze_result_t zeImageCreate(ze_context_handle_t, ze_device_handle_t, const ze_image_desc_t *wish,
                          ze_image_handle_t *image) {
  *image = new _ze_image_handle_t{(wish->width * 4 + 63) / 64 * 64 * wish->height};
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeImageDestroy(ze_image_handle_t image) { return destroy(image); }
ze_result_t zeImageGetMemoryPropertiesExp(ze_image_handle_t image, ze_image_memory_properties_exp_t *memory) {
  memory->size = image->bytes;
  return memory->stype == ZE_STRUCTURE_TYPE_IMAGE_MEMORY_EXP_PROPERTIES ? ZE_RESULT_SUCCESS
                                                                        : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

#ifdef STANDIN_NEWER // the functions of a later version
extern "C" ze_result_t zeMemAllocNewer(ze_context_handle_t, size_t, void **) { return ZE_RESULT_SUCCESS; }
extern "C" ze_result_t zeContextAskNewer(ze_context_handle_t) { return ZE_RESULT_SUCCESS; }
#endif

#define STANDIN_EVENTS ze_event_handle_t, uint32_t, ze_event_handle_t *
#define STANDIN_COMMAND(name, ...)                                                                                     \
  ze_result_t zeCommandListAppend##name(__VA_ARGS__, STANDIN_EVENTS) { return ZE_RESULT_SUCCESS; }
STANDIN_COMMAND(MemoryCopyRegion, ze_command_list_handle_t, void *, const ze_copy_region_t *, uint32_t, uint32_t,
                const void *, const ze_copy_region_t *, uint32_t, uint32_t)
STANDIN_COMMAND(ImageCopy, ze_command_list_handle_t, ze_image_handle_t, ze_image_handle_t)
STANDIN_COMMAND(ImageCopyRegion, ze_command_list_handle_t, ze_image_handle_t, ze_image_handle_t,
                const ze_image_region_t *, const ze_image_region_t *)
STANDIN_COMMAND(ImageCopyToMemory, ze_command_list_handle_t, void *, ze_image_handle_t, const ze_image_region_t *)
STANDIN_COMMAND(ImageCopyToMemoryExt, ze_command_list_handle_t, void *, ze_image_handle_t, const ze_image_region_t *,
                uint32_t, uint32_t)
STANDIN_COMMAND(ImageCopyFromMemory, ze_command_list_handle_t, ze_image_handle_t, const void *,
                const ze_image_region_t *)
STANDIN_COMMAND(ImageCopyFromMemoryExt, ze_command_list_handle_t, ze_image_handle_t, const void *,
                const ze_image_region_t *, uint32_t, uint32_t)
STANDIN_COMMAND(WriteGlobalTimestamp, ze_command_list_handle_t, uint64_t *)
STANDIN_COMMAND(QueryKernelTimestamps, ze_command_list_handle_t, uint32_t, ze_event_handle_t *, void *, const size_t *)
STANDIN_COMMAND(LaunchKernelIndirect, ze_command_list_handle_t, ze_kernel_handle_t, const ze_group_count_t *)
STANDIN_COMMAND(LaunchMultipleKernelsIndirect, ze_command_list_handle_t, uint32_t, ze_kernel_handle_t *,
                const uint32_t *, const ze_group_count_t *)
ze_result_t zeCommandListAppendMemoryCopyFromContext(ze_command_list_handle_t list, void *to, ze_context_handle_t,
                                                     const void *from, size_t size, ze_event_handle_t signal,
                                                     uint32_t waits, ze_event_handle_t *events) {
  return zeCommandListAppendMemoryCopy(list, to, from, size, signal, waits, events);
}
