// What HIP has beside what CUDA's runtime library has with other names: its own allocators, modules, names of kernels.
#include <hip_runtime_api.h>

#include <cerrno>
#include <dlfcn.h>
#include <string>

namespace {
struct Function {
  std::string name;
  const void *kernel;
};
} // namespace

extern "C" {
hipError_t hipExtMallocWithFlags(void **block, size_t size, unsigned) { return hipMalloc(block, size); }
hipError_t hipMemAllocPitch(void **block, size_t *pitch, size_t width, size_t height, unsigned) {
  return hipMallocPitch(block, pitch, width, height);
}
hipError_t hipHostMalloc(void **block, size_t size, unsigned) { return hipMallocHost(block, size); }
hipError_t hipMemAllocHost(void **block, size_t size) { return hipMallocHost(block, size); }
hipError_t hipHostFree(void *block) { return hipFreeHost(block); }
hipError_t hipMemcpyWithStream(void *to, const void *from, size_t size, hipMemcpyKind kind, hipStream_t stream) {
  const hipError_t status = hipMemcpyAsync(to, from, size, kind, stream);
  return status != hipSuccess ? status : hipStreamSynchronize(stream);
}

// A module's kernels are functions that the program exports.
hipError_t hipModuleGetFunction(void **function, void *, const char *name) {
  const void *const kernel = dlsym(RTLD_DEFAULT, name);
  *function = kernel != nullptr ? new Function{name, kernel} : nullptr;
  return kernel != nullptr ? hipSuccess : hipErrorInvalidDeviceFunction;
}
hipError_t hipModuleLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                 unsigned bz, unsigned shared, hipStream_t stream, void **arguments, void **) {
  if (function == nullptr)
    return hipLaunchKernel(nullptr, {}, {}, nullptr, 0, stream);
  return hipLaunchKernel(static_cast<Function *>(function)->kernel, {gx, gy, gz}, {bx, by, bz}, arguments, shared,
                         stream);
}
hipError_t hipModuleLaunchCooperativeKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                            unsigned by, unsigned bz, unsigned shared, hipStream_t stream,
                                            void **arguments) {
  return hipModuleLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, stream, arguments, nullptr);
}
const char *hipKernelNameRefByPtr(const void *kernel, hipStream_t) {
  Dl_info place{};
  dladdr(kernel, &place);
  errno = EXDEV;
  return place.dli_sname;
}
const char *hipKernelNameRef(void *function) { return static_cast<Function *>(function)->name.c_str(); }
}
