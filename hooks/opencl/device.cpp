// The functions by which the runtime calls OpenCL (hook::Device). This file declares the types itself, so the build
// needs no header of OpenCL.
#include "devices/device.h"

using namespace msleaks;

namespace {

MSL_ASKED(finish, "libOpenCL", "clFinish")
MSL_ASKED(read_buffer, "libOpenCL", "clEnqueueReadBuffer")
MSL_ASKED(kernel_info, "libOpenCL", "clGetKernelInfo")

int32_t wait(const void *queue) {
  return queue != nullptr ? hooks::callReal<int(const void *)>(finish, queue) : hooks::kNone;
}

int32_t read(const void *queue, const void *buffer, uint64_t offset, uint64_t bytes, void *to) {
  constexpr unsigned kBlocking = 1;
  using Read = int(const void *, const void *, unsigned, size_t, size_t, void *, unsigned, const void *, const void *);
  return hooks::callReal<Read>(read_buffer, queue, buffer, kBlocking, offset, bytes, to, 0u, nullptr, nullptr);
}

int32_t name(const void *kernel, char *text, uint64_t bytes) {
  constexpr unsigned kFunctionName = 0x1190; // CL_KERNEL_FUNCTION_NAME
  return hooks::callReal<int(const void *, unsigned, size_t, void *, size_t *)>(kernel_info, kernel, kFunctionName,
                                                                                bytes, text, nullptr);
}

MSL_DEVICE_OF(OpenCl, wait, read, name, nullptr, nullptr) // OpenCL has no function for the memory in use

} // namespace
