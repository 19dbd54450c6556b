// The functions by which the runtime calls OpenCL (hook::Device).
#include "devices/device.h"
#include "opencl/calls.h"

using namespace msleaks;

namespace {

MSL_ASKED(finish, "libOpenCL", "clFinish")
MSL_ASKED(read_buffer, "libOpenCL", "clEnqueueReadBuffer")
MSL_ASKED(kernel_info, "libOpenCL", "clGetKernelInfo")

int32_t wait(const void *queue) {
  return queue != nullptr ? hooks::callReal<int(const void *)>(finish, queue) : hooks::kNone;
}

int32_t read(const void *queue, const void *buffer, uint64_t offset, uint64_t bytes, void *to) {
  return hooks::callReal<hooks::cl::Read>(read_buffer, queue, buffer, hooks::cl::kBlocking, offset, bytes, to, 0u,
                                          nullptr, nullptr);
}

int32_t name(const void *kernel, char *text, uint64_t bytes) {
  return hooks::callReal<hooks::cl::Info>(kernel_info, kernel, hooks::cl::kFunctionName, bytes, text, nullptr);
}

MSL_DEVICE_OF(OpenCl, wait, read, name, nullptr, nullptr) // OpenCL has no function for the memory in use

} // namespace
