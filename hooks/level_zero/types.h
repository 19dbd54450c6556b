// The types of Level Zero's functions. They are declared here, so the build needs no header of the driver. With
// -DMSL_VENDOR_HEADERS, they are the driver's own. Then a prototype that differs from the driver's does not compile.
#pragma once

#include <cstddef>
#include <cstdint>

#ifdef MSL_VENDOR_HEADERS
#include <level_zero/ze_api.h>
#else
using ze_result_t = int; // 0: success
typedef void *ze_driver_handle_t, *ze_device_handle_t, *ze_context_handle_t, *ze_command_list_handle_t,
    *ze_command_queue_handle_t, *ze_fence_handle_t, *ze_kernel_handle_t, *ze_module_handle_t,
    *ze_module_build_log_handle_t, *ze_event_handle_t, *ze_event_pool_handle_t, *ze_image_handle_t,
    *ze_sampler_handle_t, *ze_physical_mem_handle_t;
using ze_memory_access_attribute_t = int;
typedef void ze_device_mem_alloc_desc_t, ze_host_mem_alloc_desc_t, ze_memory_free_ext_desc_t, ze_image_desc_t,
    ze_image_region_t, ze_copy_region_t, ze_context_desc_t, ze_command_queue_desc_t, ze_command_list_desc_t,
    ze_event_pool_desc_t, ze_event_desc_t, ze_fence_desc_t, ze_module_desc_t, ze_sampler_desc_t;
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
struct ze_image_memory_properties_exp_t {
  uint32_t stype;
  const void *pNext;
  uint64_t size, rowPitch, slicePitch;
};
struct ze_ipc_mem_handle_t {
  char data[64];
};
struct ze_ipc_event_pool_handle_t {
  char data[64];
};
#endif
static_assert(sizeof(ze_result_t) == 4 && sizeof(ze_group_count_t) == 12 && sizeof(ze_ipc_mem_handle_t) == 64);
static_assert(offsetof(ze_kernel_desc_t, pKernelName) == 24 && offsetof(ze_image_memory_properties_exp_t, size) == 16);
static_assert(offsetof(ze_physical_mem_desc_t, flags) == 16 && offsetof(ze_physical_mem_desc_t, size) == 24);
