// Imitates libOpenCL.so.1, the loader of OpenCL's drivers, as far as a program needs it for memory of
// cl_intel_unified_shared_memory. It opens one driver, and gets the driver's functions by name (driver.cpp).
#define CL_TARGET_OPENCL_VERSION 200
#include "driver.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <initializer_list>

namespace {

template <class Handle> Handle made() { return reinterpret_cast<Handle>(new Object); }
template <class Handle> Handle made(cl_int *status) {
  if (status != nullptr)
    *status = CL_SUCCESS;
  return made<Handle>();
}
template <class Handle> cl_int released(Handle handle) {
  delete reinterpret_cast<Object *>(handle);
  return CL_SUCCESS;
}

void *addressIn(const char *name) {
  using Address = void *(const char *);
  static const auto of_driver =
      reinterpret_cast<Address *>(::dlsym(::dlopen("libusm_driver.so", RTLD_NOW), "clGetExtensionFunctionAddress"));
  errno = EDOM;
  return of_driver(name);
}

cl_platform_id platform() {
  static const auto the = made<cl_platform_id>();
  return the;
}
cl_device_id device() {
  static const auto the = made<cl_device_id>();
  return the;
}

} // namespace

cl_int clGetPlatformIDs(cl_uint, cl_platform_id *platforms, cl_uint *) {
  platforms[0] = platform();
  return CL_SUCCESS;
}
cl_int clGetDeviceIDs(cl_platform_id, cl_device_type, cl_uint, cl_device_id *devices, cl_uint *) {
  devices[0] = device();
  return CL_SUCCESS;
}
void *clGetExtensionFunctionAddress(const char *name) { return addressIn(name); }
void *clGetExtensionFunctionAddressForPlatform(cl_platform_id of, const char *name) {
  return of == platform() ? addressIn(name) : nullptr;
}

cl_context clCreateContext(const cl_context_properties *, cl_uint, const cl_device_id *,
                           void(CL_CALLBACK *)(const char *, const void *, size_t, void *), void *, cl_int *status) {
  return made<cl_context>(status);
}
cl_int clReleaseContext(cl_context context) { return released(context); }
cl_command_queue clCreateCommandQueueWithProperties(cl_context, cl_device_id, const cl_queue_properties *,
                                                    cl_int *status) {
  return made<cl_command_queue>(status);
}
cl_int clReleaseCommandQueue(cl_command_queue queue) { return released(queue); }
cl_int clFinish(cl_command_queue) { return CL_SUCCESS; }

cl_kernel clCreateKernel(cl_program, const char *, cl_int *status) { return made<cl_kernel>(status); }
cl_int clReleaseKernel(cl_kernel kernel) { return released(kernel); }
cl_int clGetKernelInfo(cl_kernel, cl_kernel_info, size_t bytes, void *to, size_t *) {
  std::strncpy(static_cast<char *>(to), "add_one", bytes);
  return CL_SUCCESS;
}
// The one kernel adds 1 to each byte of its first argument.
cl_int clEnqueueNDRangeKernel(cl_command_queue, cl_kernel kernel, cl_uint, const size_t *, const size_t *global,
                              const size_t *, cl_uint, const cl_event *, cl_event *) {
  auto *const bytes = static_cast<char *>(reinterpret_cast<Object *>(kernel)->argument);
  if (bytes == nullptr)
    return CL_INVALID_KERNEL_ARGS;
  for (size_t i = 0; i < global[0]; ++i)
    ++bytes[i];
  return CL_SUCCESS;
}
