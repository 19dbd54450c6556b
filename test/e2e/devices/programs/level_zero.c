// Imitates a training on two GPUs. A stand-in replaces the driver Level Zero. The program leaks a block in each step
// and physical memory, and some of its calls are refused. With "mended" the program frees all blocks.
#include "standin_module.h"

#include <msleaks/api.h>

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <string.h>

enum {
  kSteps = 5,
  kWeights = 1 << 20,
  kActivations = 1 << 18,
  kForgotten = 8192,
  kElements = 256,
  kNearlyAll = 58 << 20, // a device has 64 MiB, and a context takes 3 MiB
  kPage = 1 << 16
};

static int mended, failures;

static void expect(ze_result_t status, ze_result_t wanted, const char *what) {
  if (status != wanted) {
    printf("%s: 0x%x, not 0x%x\n", what, (unsigned)status, (unsigned)wanted);
    ++failures;
  }
}
static void done(ze_result_t status, const char *what) { expect(status, ZE_RESULT_SUCCESS, what); }

// This function is the kernel: the driver's stand-in calls it at each launch.
static void add_groups(const ze_group_count_t *groups, const uint64_t *arguments) {
  float *values = (float *)arguments[0];
  for (uint64_t i = 0; i < arguments[1]; ++i)
    values[i] += (float)(groups->groupCountX * groups->groupCountY * groups->groupCountZ);
}
static const struct standin_kernel kernels[] = {{"add_groups", add_groups}, {NULL, NULL}};

int main(int argc, char **argv) {
  uint32_t count = 0;
  ze_driver_handle_t driver;
  ze_device_handle_t devices[2], parts[2];
  ze_context_handle_t context;
  const ze_context_desc_t context_wish = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
  mended = argc > 1 && strcmp(argv[1], "mended") == 0;

  done(zeInit(0), "init");
  done(zeDriverGet(&count, &driver), "driver");
  count = 0;
  done(zeDeviceGet(driver, &count, NULL), "number of devices");
  printf("%u devices\n", count);
  count = 2;
  done(zeDeviceGet(driver, &count, devices), "devices");
  done(zeDeviceGetSubDevices(devices[1], &count, parts), "parts of a device");
  done(zeContextCreate(driver, &context_wish, &context), "context");

  const ze_module_desc_t module_wish = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                        .format = ZE_MODULE_FORMAT_NATIVE,
                                        .inputSize = sizeof kernels,
                                        .pInputModule = (const uint8_t *)kernels};
  const ze_kernel_desc_t kernel_wish = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "add_groups"};
  const ze_command_queue_desc_t queue_wish = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
  const ze_command_list_desc_t list_wish = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
  ze_module_handle_t module;
  ze_kernel_handle_t kernel;
  ze_command_queue_handle_t queue;
  ze_command_list_handle_t now, list;
  done(zeModuleCreate(context, devices[1], &module_wish, &module, NULL), "module");
  done(zeKernelCreate(module, &kernel_wish, &kernel), "kernel");
  done(zeCommandQueueCreate(context, devices[1], &queue_wish, &queue), "queue");
  done(zeCommandListCreateImmediate(context, devices[1], &queue_wish, &now), "immediate list");
  done(zeCommandListCreate(context, devices[1], &list_wish, &list), "list");

  // Allocates blocks of each kind.
  const ze_device_mem_alloc_desc_t wish = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
  const ze_host_mem_alloc_desc_t host_wish = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
  void *weights, *pinned, *shared, *of_part;
  done(zeMemAllocDevice(context, &wish, kWeights, 64, devices[1], &weights), "weights");
  done(zeMemAllocHost(context, &host_wish, 4096, 0, &pinned), "pinned");
  done(zeMemAllocShared(context, &wish, &host_wish, 16384, 0, devices[0], &shared), "shared");
  done(zeMemAllocDevice(context, &wish, 32768, 0, parts[1], &of_part), "block of a part");
  ze_physical_mem_desc_t page = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, .size = kPage};
  ze_physical_mem_handle_t pages, host_pages;
  done(zePhysicalMemCreate(context, devices[0], &page, &pages), "physical memory");
  void *mapped = mmap(NULL, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  done(zeVirtualMemMap(context, mapped, kPage, pages, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE), "mapping");
  memset(mapped, 7, kPage);
  done(zeVirtualMemUnmap(context, mapped, kPage), "end of the mapping");
  munmap(mapped, kPage);
  page.flags = 2; // requests host memory
  done(zePhysicalMemCreate(context, NULL, &page, &host_pages), "physical memory of the host");

  // `now` executes a command immediately. `list` stores commands, and the queue executes this list twice.
  float host[kElements] = {0};
  const uint64_t elements = kElements;
  const float one = 1;
  done(zeCommandListAppendMemoryFill(now, weights, &one, sizeof one, kWeights, NULL, 0, NULL), "fill with ones");
  done(zeKernelSetArgumentValue(kernel, 0, sizeof weights, &weights), "first argument");
  done(zeKernelSetArgumentValue(kernel, 1, sizeof elements, &elements), "second argument");
  const ze_group_count_t groups = {5, 6, 7};
  done(zeCommandListAppendLaunchCooperativeKernel(list, kernel, &groups, NULL, 0, NULL), "cooperative launch");
  done(zeCommandListClose(list), "close");
  for (int i = 0; i < 2; ++i)
    done(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL), "execute");
  done(zeCommandQueueSynchronize(queue, UINT64_MAX), "wait");

  for (int step = 0; step < kSteps; ++step) {
    void *activations, *forgotten;
    const ze_group_count_t line = {2, 1, 1};
    msl_step((uint64_t)step);
    done(zeMemAllocDevice(context, &wish, kActivations, 0, devices[1], &activations), "activations");
    done(zeMemAllocDevice(context, &wish, kForgotten, 0, devices[1], &forgotten), "forgotten"); // forgotten
    done(zeCommandListAppendMemoryFill(now, activations, "", 1, kActivations, NULL, 0, NULL), "fill");
    done(zeCommandListAppendLaunchKernel(now, kernel, &line, NULL, 0, NULL), "launch");
    done(zeMemFree(context, activations), "free of the activations");
    if (mended)
      done(zeMemFree(context, forgotten), "free");
  }
  done(zeCommandListAppendMemoryCopy(now, host, weights, sizeof host, NULL, 0, NULL), "copy to the host");
  printf("the last element is %.0f\n", host[kElements - 1]);

  // The first block fits into the device's memory. The driver refuses all calls that follow the free of this block.
  void *refused = NULL;
  expect(zeMemAllocDevice(context, &wish, kNearlyAll, 0, devices[1], &refused), ZE_RESULT_SUCCESS, "nearly all");
  done(zeMemFree(context, refused), "free of nearly all");
  expect(zeMemAllocDevice(context, &wish, (size_t)64 << 20, 0, devices[1], &refused), // refused
         ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "too much");
  expect(zeMemAllocHost(context, &host_wish, (size_t)1 << 40, 0, &refused), ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
         "more than there is");
  expect(zeMemAllocDevice(context, &wish, 0, 0, devices[1], &refused), ZE_RESULT_ERROR_UNSUPPORTED_SIZE, "nothing");
  expect(zeMemAllocDevice(context, NULL, 4096, 0, devices[1], &refused), ZE_RESULT_ERROR_INVALID_NULL_POINTER,
         "without a wish");
  expect(zePhysicalMemCreate(context, devices[0], NULL, &pages), ZE_RESULT_ERROR_INVALID_NULL_POINTER,
         "physical memory without a wish");
  expect(zeMemFree(context, host), ZE_RESULT_ERROR_INVALID_ARGUMENT, "free of no block");
  expect(zeMemFree(NULL, pinned), ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "free without a context");
  expect(zeCommandListAppendLaunchKernel(now, kernel, NULL, NULL, 0, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER,
         "launch without a grid");
  expect(zeCommandListAppendMemoryCopy(list, host, weights, 4, NULL, 0, NULL), ZE_RESULT_ERROR_INVALID_ARGUMENT,
         "copy by a closed list");
  expect(zeCommandListAppendMemoryFill(now, weights, &one, sizeof one, 3, NULL, 0, NULL), ZE_RESULT_ERROR_INVALID_SIZE,
         "fill with a part of a pattern");

  const ze_memory_free_ext_desc_t when = {.stype = ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC};
  done(zeMemFreeExt(context, &when, of_part), "free of the block of a part");
  done(zeMemFree(context, shared), "free of shared memory");
  done(zeMemFree(context, pinned), "free of pinned memory");
  done(zeMemFree(context, weights), "free of the weights");
  done(zePhysicalMemDestroy(context, host_pages), "end of the physical memory of the host");
  if (mended)
    done(zePhysicalMemDestroy(context, pages), "end of the physical memory");
  done(zeCommandListDestroy(list), "end of the list");
  done(zeCommandListDestroy(now), "end of the immediate list");
  done(zeCommandQueueDestroy(queue), "end of the queue");
  done(zeKernelDestroy(kernel), "end of the kernel");
  done(zeModuleDestroy(module), "end of the module");
  done(zeContextDestroy(context), "end of the context");
  printf("%d failures\n", failures);
  return failures != 0;
}
