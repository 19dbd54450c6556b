// Imitates an OpenCL driver with the extension cl_intel_unified_shared_memory. The library exports only the function by
// which a loader gets the others. With $STANDIN_HEAP, the memory is from malloc, as in a driver for the processor.
#define CL_TARGET_OPENCL_VERSION 200
#include "driver.h"

#include "../common/machine.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

standin::Machine &machine() {
  static auto *const made = new standin::Machine;
  return *made;
}
bool isOfHeap() { return std::getenv("STANDIN_HEAP") != nullptr; }

void *allocate(standin::Memory &memory, size_t bytes, cl_int *status) {
  void *const block = bytes > memory.total() ? nullptr : isOfHeap() ? std::malloc(bytes) : memory.allocate(bytes);
  if (status != nullptr)
    *status = block != nullptr ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
  errno = EDOM;
  return block;
}

void *hostMemAlloc(cl_context, const cl_mem_properties_intel *, size_t bytes, cl_uint, cl_int *status) {
  return allocate(machine().pinned(), bytes, status);
}
void *deviceMemAlloc(cl_context, cl_device_id, const cl_mem_properties_intel *, size_t bytes, cl_uint, cl_int *status) {
  return allocate(machine().device(0), bytes, status);
}
void *sharedMemAlloc(cl_context, cl_device_id, const cl_mem_properties_intel *, size_t bytes, cl_uint, cl_int *status) {
  return allocate(machine().device(1), bytes, status);
}
cl_int memFree(cl_context context, void *block) {
  errno = EDOM;
  if (context == nullptr)
    return CL_INVALID_CONTEXT;
  if (isOfHeap())
    std::free(block);
  return isOfHeap() || machine().release(block) ? CL_SUCCESS : CL_INVALID_VALUE;
}
cl_int setArgument(cl_kernel kernel, cl_uint, const void *block) {
  reinterpret_cast<Object *>(kernel)->argument = const_cast<void *>(block);
  return CL_SUCCESS;
}
cl_int memFill(cl_command_queue, void *to, const void *pattern, size_t pattern_bytes, size_t bytes, cl_uint,
               const cl_event *, cl_event *) {
  if (pattern_bytes == 0)
    return CL_INVALID_VALUE;
  for (size_t at = 0; at + pattern_bytes <= bytes; at += pattern_bytes)
    std::memcpy(static_cast<char *>(to) + at, pattern, pattern_bytes);
  return CL_SUCCESS;
}
cl_int memCopy(cl_command_queue, cl_bool, void *to, const void *from, size_t bytes, cl_uint, const cl_event *,
               cl_event *) {
  if (to == nullptr || from == nullptr)
    return CL_INVALID_VALUE;
  std::memcpy(to, from, bytes);
  return CL_SUCCESS;
}

struct Known {
  std::string_view name;
  void *function;
};
template <class Function> Known known(std::string_view name, Function *function) {
  return {name, reinterpret_cast<void *>(function)};
}

} // namespace

void *clGetExtensionFunctionAddress(const char *asked) {
  for (const Known &one : {known("clHostMemAllocINTEL", hostMemAlloc), known("clDeviceMemAllocINTEL", deviceMemAlloc),
                           known("clSharedMemAllocINTEL", sharedMemAlloc), known("clMemFreeINTEL", memFree),
                           known("clMemBlockingFreeINTEL", memFree), known("clEnqueueMemFillINTEL", memFill),
                           known("clSetKernelArgMemPointerINTEL", setArgument), known("clEnqueueMemcpyINTEL", memCopy)})
    if (asked != nullptr && one.name == asked)
      return one.function;
  return nullptr;
}
