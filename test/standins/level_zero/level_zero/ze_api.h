// Declares the part of Level Zero that the stand-in implements, with the names of the driver's own header.
#pragma once
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  ZE_RESULT_SUCCESS = 0,
  ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY = 0x70000002,
  ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY = 0x70000003,
  ZE_RESULT_ERROR_UNINITIALIZED = 0x78000001,
  ZE_RESULT_ERROR_INVALID_ARGUMENT = 0x78000004,
  ZE_RESULT_ERROR_INVALID_NULL_HANDLE = 0x78000005,
  ZE_RESULT_ERROR_INVALID_NULL_POINTER = 0x78000007,
  ZE_RESULT_ERROR_INVALID_SIZE = 0x78000008,
  ZE_RESULT_ERROR_UNSUPPORTED_SIZE = 0x78000009,
  ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT = 0x7800000a,
  ZE_RESULT_ERROR_INVALID_KERNEL_NAME = 0x78000011,
  ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX = 0x78000015
} ze_result_t;

typedef enum {
  ZE_STRUCTURE_TYPE_CONTEXT_DESC = 0xd,
  ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC = 0xe,
  ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC = 0xf,
  ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC = 0x15,
  ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC = 0x16,
  ZE_STRUCTURE_TYPE_MODULE_DESC = 0x1b,
  ZE_STRUCTURE_TYPE_KERNEL_DESC = 0x1d,
  ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC = 0x20,
  ZE_STRUCTURE_TYPE_EVENT_POOL_DESC = 0x10,
  ZE_STRUCTURE_TYPE_EVENT_DESC = 0x11,
  ZE_STRUCTURE_TYPE_FENCE_DESC = 0x12,
  ZE_STRUCTURE_TYPE_IMAGE_DESC = 0x13,
  ZE_STRUCTURE_TYPE_SAMPLER_DESC = 0x1f,
  ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC = 0x1000a,
  ZE_STRUCTURE_TYPE_IMAGE_MEMORY_EXP_PROPERTIES = 0x20007
} ze_structure_type_t;

typedef struct _ze_driver_handle_t *ze_driver_handle_t;
typedef struct _ze_device_handle_t *ze_device_handle_t;
typedef struct _ze_context_handle_t *ze_context_handle_t;
typedef struct _ze_command_queue_handle_t *ze_command_queue_handle_t;
typedef struct _ze_command_list_handle_t *ze_command_list_handle_t;
typedef struct _ze_fence_handle_t *ze_fence_handle_t;
typedef struct _ze_event_handle_t *ze_event_handle_t;
typedef struct _ze_module_handle_t *ze_module_handle_t;
typedef struct _ze_module_build_log_handle_t *ze_module_build_log_handle_t;
typedef struct _ze_kernel_handle_t *ze_kernel_handle_t;
typedef struct _ze_physical_mem_handle_t *ze_physical_mem_handle_t;

typedef struct _ze_event_pool_handle_t *ze_event_pool_handle_t;
typedef struct _ze_image_handle_t *ze_image_handle_t;
typedef struct _ze_sampler_handle_t *ze_sampler_handle_t;

typedef struct {
  ze_structure_type_t stype;
  const void *pNext;
  uint32_t flags;
} ze_context_desc_t;

typedef struct {
  ze_structure_type_t stype;
  const void *pNext;
  uint32_t ordinal, index, flags;
  int mode, priority;
} ze_command_queue_desc_t;

typedef struct {
  ze_structure_type_t stype;
  const void *pNext;
  uint32_t commandQueueGroupOrdinal, flags;
} ze_command_list_desc_t;

typedef struct {
  ze_structure_type_t stype;
  const void *pNext;
  uint32_t flags, ordinal;
} ze_device_mem_alloc_desc_t;

typedef struct {
  ze_structure_type_t stype;
  const void *pNext;
  uint32_t flags;
} ze_host_mem_alloc_desc_t;

typedef struct {
  ze_structure_type_t stype;
  const void *pNext;
  uint32_t freePolicy;
} ze_memory_free_ext_desc_t;

typedef struct {
  ze_structure_type_t stype;
  const void *pNext;
  uint32_t flags;
  size_t size;
} ze_physical_mem_desc_t;

typedef enum { ZE_MODULE_FORMAT_NATIVE = 1 } ze_module_format_t;
typedef struct _ze_module_constants_t ze_module_constants_t;
typedef struct {
  ze_structure_type_t stype;
  const void *pNext;
  ze_module_format_t format;
  size_t inputSize;
  const uint8_t *pInputModule;
  const char *pBuildFlags;
  const ze_module_constants_t *pConstants;
} ze_module_desc_t;

typedef struct {
  ze_structure_type_t stype;
  const void *pNext;
  uint32_t flags;
  const char *pKernelName;
} ze_kernel_desc_t;

typedef struct {
  uint32_t groupCountX, groupCountY, groupCountZ;
} ze_group_count_t;

typedef struct {
  ze_structure_type_t stype;
  const void *pNext;
  uint32_t flags, count;
} ze_event_pool_desc_t;

typedef struct {
  ze_structure_type_t stype;
  const void *pNext;
  uint32_t index, signal, wait;
} ze_event_desc_t;

typedef struct {
  ze_structure_type_t stype;
  const void *pNext;
  uint32_t flags;
} ze_fence_desc_t;

typedef struct {
  ze_structure_type_t stype;
  const void *pNext;
  int addressMode, filterMode;
  uint8_t isNormalized;
} ze_sampler_desc_t;

typedef struct {
  int layout, type, x, y, z, w;
} ze_image_format_t;

typedef struct {
  ze_structure_type_t stype;
  const void *pNext;
  uint32_t flags;
  int type;
  ze_image_format_t format;
  uint64_t width;
  uint32_t height, depth, arraylevels, miplevels;
} ze_image_desc_t;

typedef struct {
  ze_structure_type_t stype;
  const void *pNext;
  uint64_t size, rowPitch, slicePitch;
} ze_image_memory_properties_exp_t;

typedef struct {
  uint32_t originX, originY, originZ, width, height, depth;
} ze_image_region_t, ze_copy_region_t;

typedef struct {
  char data[64];
} ze_ipc_mem_handle_t, ze_ipc_event_pool_handle_t;

ze_result_t zeInit(uint32_t flags);
ze_result_t zeDriverGet(uint32_t *count, ze_driver_handle_t *drivers);
ze_result_t zeDeviceGet(ze_driver_handle_t driver, uint32_t *count, ze_device_handle_t *devices);
ze_result_t zeDeviceGetSubDevices(ze_device_handle_t device, uint32_t *count, ze_device_handle_t *parts);
ze_result_t zeContextCreate(ze_driver_handle_t driver, const ze_context_desc_t *wish, ze_context_handle_t *context);
ze_result_t zeContextDestroy(ze_context_handle_t context);

ze_result_t zeMemAllocDevice(ze_context_handle_t context, const ze_device_mem_alloc_desc_t *wish, size_t size,
                             size_t alignment, ze_device_handle_t device, void **block);
ze_result_t zeMemAllocHost(ze_context_handle_t context, const ze_host_mem_alloc_desc_t *wish, size_t size,
                           size_t alignment, void **block);
ze_result_t zeMemAllocShared(ze_context_handle_t context, const ze_device_mem_alloc_desc_t *wish,
                             const ze_host_mem_alloc_desc_t *host_wish, size_t size, size_t alignment,
                             ze_device_handle_t device, void **block);
ze_result_t zeMemFree(ze_context_handle_t context, void *block);
ze_result_t zeMemFreeExt(ze_context_handle_t context, const ze_memory_free_ext_desc_t *wish, void *block);
ze_result_t zePhysicalMemCreate(ze_context_handle_t context, ze_device_handle_t device, ze_physical_mem_desc_t *wish,
                                ze_physical_mem_handle_t *memory);
ze_result_t zePhysicalMemDestroy(ze_context_handle_t context, ze_physical_mem_handle_t memory);
typedef enum { ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE = 1 } ze_memory_access_attribute_t;
ze_result_t zeVirtualMemMap(ze_context_handle_t context, const void *address, size_t size,
                            ze_physical_mem_handle_t memory, size_t offset, ze_memory_access_attribute_t access);
ze_result_t zeVirtualMemUnmap(ze_context_handle_t context, const void *address, size_t size);

ze_result_t zeModuleCreate(ze_context_handle_t context, ze_device_handle_t device, const ze_module_desc_t *wish,
                           ze_module_handle_t *module, ze_module_build_log_handle_t *log);
ze_result_t zeModuleDestroy(ze_module_handle_t module);
ze_result_t zeKernelCreate(ze_module_handle_t module, const ze_kernel_desc_t *wish, ze_kernel_handle_t *kernel);
ze_result_t zeKernelDestroy(ze_kernel_handle_t kernel);
ze_result_t zeKernelSetArgumentValue(ze_kernel_handle_t kernel, uint32_t index, size_t size, const void *value);

ze_result_t zeCommandQueueCreate(ze_context_handle_t context, ze_device_handle_t device,
                                 const ze_command_queue_desc_t *wish, ze_command_queue_handle_t *queue);
ze_result_t zeCommandQueueDestroy(ze_command_queue_handle_t queue);
ze_result_t zeCommandQueueExecuteCommandLists(ze_command_queue_handle_t queue, uint32_t count,
                                              ze_command_list_handle_t *lists, ze_fence_handle_t fence);
ze_result_t zeCommandQueueSynchronize(ze_command_queue_handle_t queue, uint64_t timeout);
ze_result_t zeCommandListCreate(ze_context_handle_t context, ze_device_handle_t device,
                                const ze_command_list_desc_t *wish, ze_command_list_handle_t *list);
ze_result_t zeCommandListCreateImmediate(ze_context_handle_t context, ze_device_handle_t device,
                                         const ze_command_queue_desc_t *wish, ze_command_list_handle_t *list);
ze_result_t zeCommandListClose(ze_command_list_handle_t list);
ze_result_t zeCommandListDestroy(ze_command_list_handle_t list);
ze_result_t zeCommandListAppendLaunchKernel(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                                            const ze_group_count_t *groups, ze_event_handle_t signal, uint32_t waits,
                                            ze_event_handle_t *events);
ze_result_t zeCommandListAppendLaunchCooperativeKernel(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                                                       const ze_group_count_t *groups, ze_event_handle_t signal,
                                                       uint32_t waits, ze_event_handle_t *events);
ze_result_t zeCommandListAppendMemoryCopy(ze_command_list_handle_t list, void *to, const void *from, size_t size,
                                          ze_event_handle_t signal, uint32_t waits, ze_event_handle_t *events);
ze_result_t zeCommandListAppendMemoryFill(ze_command_list_handle_t list, void *to, const void *pattern,
                                          size_t pattern_size, size_t size, ze_event_handle_t signal, uint32_t waits,
                                          ze_event_handle_t *events);

ze_result_t zeContextCreateEx(ze_driver_handle_t driver, const ze_context_desc_t *wish, uint32_t count,
                              ze_device_handle_t *devices, ze_context_handle_t *context);
ze_result_t zeEventPoolCreate(ze_context_handle_t context, const ze_event_pool_desc_t *wish, uint32_t count,
                              ze_device_handle_t *devices, ze_event_pool_handle_t *pool);
ze_result_t zeEventPoolDestroy(ze_event_pool_handle_t pool);
ze_result_t zeEventPoolOpenIpcHandle(ze_context_handle_t context, ze_ipc_event_pool_handle_t handle,
                                     ze_event_pool_handle_t *pool);
ze_result_t zeEventPoolCloseIpcHandle(ze_event_pool_handle_t pool);
ze_result_t zeEventCreate(ze_event_pool_handle_t pool, const ze_event_desc_t *wish, ze_event_handle_t *event);
ze_result_t zeEventDestroy(ze_event_handle_t event);
ze_result_t zeFenceCreate(ze_command_queue_handle_t queue, const ze_fence_desc_t *wish, ze_fence_handle_t *fence);
ze_result_t zeFenceDestroy(ze_fence_handle_t fence);
ze_result_t zeSamplerCreate(ze_context_handle_t context, ze_device_handle_t device, const ze_sampler_desc_t *wish,
                            ze_sampler_handle_t *sampler);
ze_result_t zeSamplerDestroy(ze_sampler_handle_t sampler);
ze_result_t zeModuleDynamicLink(uint32_t count, ze_module_handle_t *modules, ze_module_build_log_handle_t *log);
ze_result_t zeModuleBuildLogDestroy(ze_module_build_log_handle_t log);

ze_result_t zeMemGetAddressRange(ze_context_handle_t context, const void *address, void **begin, size_t *bytes);
ze_result_t zeMemGetIpcHandle(ze_context_handle_t context, const void *block, ze_ipc_mem_handle_t *handle);
ze_result_t zeMemOpenIpcHandle(ze_context_handle_t context, ze_device_handle_t device, ze_ipc_mem_handle_t handle,
                               uint32_t flags, void **block);
ze_result_t zeMemCloseIpcHandle(ze_context_handle_t context, const void *block);
ze_result_t zeImageCreate(ze_context_handle_t context, ze_device_handle_t device, const ze_image_desc_t *wish,
                          ze_image_handle_t *image);
ze_result_t zeImageDestroy(ze_image_handle_t image);
ze_result_t zeImageGetMemoryPropertiesExp(ze_image_handle_t image, ze_image_memory_properties_exp_t *memory);

ze_result_t zeCommandListAppendMemoryCopyFromContext(ze_command_list_handle_t list, void *to,
                                                     ze_context_handle_t context, const void *from, size_t size,
                                                     ze_event_handle_t signal, uint32_t waits,
                                                     ze_event_handle_t *events);
ze_result_t zeCommandListAppendMemoryCopyRegion(ze_command_list_handle_t list, void *to, const ze_copy_region_t *there,
                                                uint32_t to_pitch, uint32_t to_slice, const void *from,
                                                const ze_copy_region_t *here, uint32_t from_pitch, uint32_t from_slice,
                                                ze_event_handle_t signal, uint32_t waits, ze_event_handle_t *events);
ze_result_t zeCommandListAppendImageCopy(ze_command_list_handle_t list, ze_image_handle_t to, ze_image_handle_t from,
                                         ze_event_handle_t signal, uint32_t waits, ze_event_handle_t *events);
ze_result_t zeCommandListAppendImageCopyRegion(ze_command_list_handle_t list, ze_image_handle_t to,
                                               ze_image_handle_t from, const ze_image_region_t *there,
                                               const ze_image_region_t *here, ze_event_handle_t signal, uint32_t waits,
                                               ze_event_handle_t *events);
ze_result_t zeCommandListAppendImageCopyToMemory(ze_command_list_handle_t list, void *to, ze_image_handle_t from,
                                                 const ze_image_region_t *here, ze_event_handle_t signal,
                                                 uint32_t waits, ze_event_handle_t *events);
ze_result_t zeCommandListAppendImageCopyToMemoryExt(ze_command_list_handle_t list, void *to, ze_image_handle_t from,
                                                    const ze_image_region_t *here, uint32_t row, uint32_t slice,
                                                    ze_event_handle_t signal, uint32_t waits,
                                                    ze_event_handle_t *events);
ze_result_t zeCommandListAppendImageCopyFromMemory(ze_command_list_handle_t list, ze_image_handle_t to,
                                                   const void *from, const ze_image_region_t *there,
                                                   ze_event_handle_t signal, uint32_t waits, ze_event_handle_t *events);
ze_result_t zeCommandListAppendImageCopyFromMemoryExt(ze_command_list_handle_t list, ze_image_handle_t to,
                                                      const void *from, const ze_image_region_t *there, uint32_t row,
                                                      uint32_t slice, ze_event_handle_t signal, uint32_t waits,
                                                      ze_event_handle_t *events);
ze_result_t zeCommandListAppendWriteGlobalTimestamp(ze_command_list_handle_t list, uint64_t *to,
                                                    ze_event_handle_t signal, uint32_t waits,
                                                    ze_event_handle_t *events);
ze_result_t zeCommandListAppendQueryKernelTimestamps(ze_command_list_handle_t list, uint32_t count,
                                                     ze_event_handle_t *of, void *to, const size_t *offsets,
                                                     ze_event_handle_t signal, uint32_t waits,
                                                     ze_event_handle_t *events);
ze_result_t zeCommandListAppendLaunchKernelIndirect(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                                                    const ze_group_count_t *groups, ze_event_handle_t signal,
                                                    uint32_t waits, ze_event_handle_t *events);
ze_result_t zeCommandListAppendLaunchMultipleKernelsIndirect(ze_command_list_handle_t list, uint32_t count,
                                                             ze_kernel_handle_t *kernels, const uint32_t *number,
                                                             const ze_group_count_t *groups, ze_event_handle_t signal,
                                                             uint32_t waits, ze_event_handle_t *events);

#ifdef __cplusplus
}
#endif
