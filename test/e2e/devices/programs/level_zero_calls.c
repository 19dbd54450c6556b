// Calls each function of Level Zero that has a row and that level_zero.c does not call. The program opens a handle of
// each kind, and forgets the second event pool.
#include <level_zero/ze_api.h>

#include <stdio.h>

static int failures;

static void done(ze_result_t status, const char *what) {
  if (status != ZE_RESULT_SUCCESS) {
    printf("%s: 0x%x\n", what, (unsigned)status);
    ++failures;
  }
}

int main(void) {
  uint32_t count = 1;
  ze_driver_handle_t driver;
  ze_device_handle_t devices[2];
  done(zeInit(0), "init");
  done(zeDriverGet(&count, &driver), "driver");
  count = 2;
  done(zeDeviceGet(driver, &count, devices), "devices");

  // Handles
  const ze_context_desc_t context_wish = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
  const ze_command_queue_desc_t queue_wish = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
  const ze_event_pool_desc_t pool_wish = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, .count = 4};
  const ze_event_desc_t event_wish = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
  const ze_fence_desc_t fence_wish = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
  const ze_sampler_desc_t sampler_wish = {.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC};
  ze_context_handle_t context;
  ze_command_queue_handle_t queue;
  ze_command_list_handle_t now;
  ze_event_pool_handle_t pool, opened_pool, forgotten_pool;
  ze_event_handle_t event;
  ze_fence_handle_t fence;
  ze_sampler_handle_t sampler;
  ze_module_build_log_handle_t log;
  ze_ipc_event_pool_handle_t of_pool = {{0}};
  done(zeContextCreateEx(driver, &context_wish, 2, devices, &context), "context");
  done(zeCommandQueueCreate(context, devices[1], &queue_wish, &queue), "queue");
  done(zeCommandListCreateImmediate(context, devices[1], &queue_wish, &now), "list");
  done(zeEventPoolCreate(context, &pool_wish, 2, devices, &pool), "pool");
  done(zeEventPoolOpenIpcHandle(context, of_pool, &opened_pool), "opened pool");
  done(zeEventPoolCreate(context, &pool_wish, 2, devices, &forgotten_pool), "pool"); // is not destroyed
  done(zeEventCreate(pool, &event_wish, &event), "event");
  done(zeFenceCreate(queue, &fence_wish, &fence), "fence");
  done(zeSamplerCreate(context, devices[1], &sampler_wish, &sampler), "sampler");
  done(zeModuleDynamicLink(0, NULL, &log), "link");
  done(zeModuleDynamicLink(0, NULL, NULL), "link without a log");

  // Memory of another process, and images
  const ze_device_mem_alloc_desc_t wish = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
  const ze_image_desc_t image_wish = {.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC, .width = 10, .height = 5};
  ze_ipc_mem_handle_t handle = {{0}};
  void *block, *imported;
  ze_image_handle_t first, second;
  done(zeMemAllocDevice(context, &wish, 8192, 0, devices[1], &block), "block");
  if (zeMemOpenIpcHandle(context, devices[1], handle, 0, &imported) == ZE_RESULT_SUCCESS)
    ++failures;
  done(zeMemGetIpcHandle(context, block, &handle), "handle of the block");
  done(zeMemOpenIpcHandle(context, devices[1], handle, 0, &imported), "opened block");
  done(zeImageCreate(context, devices[1], &image_wish, &first), "image");
  done(zeImageCreate(context, devices[1], &image_wish, &second), "second image");

  // Uses of this memory
  char host[64] = {0};
  size_t offset = 0;
  uint32_t kernels = 0;
  const ze_group_count_t groups = {1, 1, 1};
  done(zeCommandListAppendMemoryCopyFromContext(now, block, context, host, sizeof host, event, 0, NULL), "copy");
  done(zeCommandListAppendMemoryCopyRegion(now, block, NULL, 1, 1, imported, NULL, 1, 1, NULL, 0, NULL), "region");
  done(zeCommandListAppendImageCopy(now, first, second, NULL, 0, NULL), "copy of an image");
  done(zeCommandListAppendImageCopyRegion(now, first, second, NULL, NULL, NULL, 0, NULL), "region of an image");
  done(zeCommandListAppendImageCopyToMemory(now, host, first, NULL, NULL, 0, NULL), "image to memory");
  done(zeCommandListAppendImageCopyToMemoryExt(now, host, first, NULL, 0, 0, NULL, 0, NULL), "image to memory");
  done(zeCommandListAppendImageCopyFromMemory(now, second, host, NULL, NULL, 0, NULL), "image from memory");
  done(zeCommandListAppendImageCopyFromMemoryExt(now, second, host, NULL, 0, 0, NULL, 0, NULL), "image from memory");
  done(zeCommandListAppendWriteGlobalTimestamp(now, block, NULL, 0, NULL), "time");
  done(zeCommandListAppendQueryKernelTimestamps(now, 1, &event, block, &offset, NULL, 0, NULL), "times of an event");
  done(zeCommandListAppendLaunchKernelIndirect(now, NULL, &groups, NULL, 0, NULL), "launch");
  done(zeCommandListAppendLaunchMultipleKernelsIndirect(now, 0, NULL, &kernels, &groups, NULL, 0, NULL), "launches");

  done(zeImageDestroy(second), "end of an image");
  done(zeImageDestroy(first), "end of an image");
  done(zeMemCloseIpcHandle(context, imported), "end of the opened block");
  done(zeMemFree(context, block), "free");
  done(zeModuleBuildLogDestroy(log), "end of the log");
  done(zeSamplerDestroy(sampler), "end of the sampler");
  done(zeFenceDestroy(fence), "end of the fence");
  done(zeEventDestroy(event), "end of the event");
  done(zeEventPoolCloseIpcHandle(opened_pool), "end of the opened pool");
  done(zeEventPoolDestroy(pool), "end of the pool");
  done(zeCommandListDestroy(now), "end of the list");
  done(zeCommandQueueDestroy(queue), "end of the queue");
  done(zeContextDestroy(context), "end of the context");
  printf("%d failures\n", failures);
  return failures != 0;
}
