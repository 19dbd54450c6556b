// Imitates HIP's functions that CUDA's runtime library does not have: allocators, modules, and names of kernels.
#include "../common/refusal.h"

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
hipError_t hipExtMallocWithFlags(void **block, size_t size, unsigned) {
  STANDIN_MAY_REFUSE(static_cast<hipError_t>);
  return hipMalloc(block, size);
}
hipError_t hipMemAllocPitch(void **block, size_t *pitch, size_t width, size_t height, unsigned) {
  STANDIN_MAY_REFUSE(static_cast<hipError_t>);
  return hipMallocPitch(block, pitch, width, height);
}
hipError_t hipHostMalloc(void **block, size_t size, unsigned) {
  STANDIN_MAY_REFUSE(static_cast<hipError_t>);
  return hipMallocHost(block, size);
}
hipError_t hipExtHostAlloc(void **block, size_t size, unsigned) { return hipMallocHost(block, size); }
hipError_t hipMemAllocHost(void **block, size_t size) {
  STANDIN_MAY_REFUSE(static_cast<hipError_t>);
  return hipMallocHost(block, size);
}
hipError_t hipHostFree(void *block) {
  STANDIN_MAY_REFUSE(static_cast<hipError_t>);
  return hipFreeHost(block);
}
hipError_t hipMemcpyWithStream(void *to, const void *from, size_t size, hipMemcpyKind kind, hipStream_t stream) {
  STANDIN_MAY_REFUSE(static_cast<hipError_t>);
  const hipError_t status = hipMemcpyAsync(to, from, size, kind, stream);
  return status != hipSuccess ? status : hipStreamSynchronize(stream);
}

// A module's kernels are functions that the program exports.
hipError_t hipModuleGetFunction(void **function, void *, const char *name) {
  STANDIN_MAY_REFUSE(static_cast<hipError_t>);
  const void *const kernel = dlsym(RTLD_DEFAULT, name);
  *function = kernel != nullptr ? new Function{name, kernel} : nullptr;
  return kernel != nullptr ? hipSuccess : hipErrorInvalidDeviceFunction;
}
hipError_t hipModuleLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                 unsigned bz, unsigned shared, hipStream_t stream, void **arguments, void **) {
  STANDIN_MAY_REFUSE(static_cast<hipError_t>);
  if (function == nullptr)
    return hipLaunchKernel(nullptr, {}, {}, nullptr, 0, stream);
  return hipLaunchKernel(static_cast<Function *>(function)->kernel, {gx, gy, gz}, {bx, by, bz}, arguments, shared,
                         stream);
}
hipError_t hipModuleLaunchCooperativeKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                            unsigned by, unsigned bz, unsigned shared, hipStream_t stream,
                                            void **arguments) {
  STANDIN_MAY_REFUSE(static_cast<hipError_t>);
  return hipModuleLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, stream, arguments, nullptr);
}
hipError_t hipExtLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                              hipStream_t stream, void *, void *, int) {
  STANDIN_MAY_REFUSE(static_cast<hipError_t>);
  return hipLaunchKernel(kernel, grid, block, arguments, shared, stream);
}
hipError_t hipHccModuleLaunchKernel(void *function, unsigned tx, unsigned ty, unsigned tz, unsigned bx, unsigned by,
                                    unsigned bz, size_t shared, hipStream_t stream, void **arguments, void **extra,
                                    void *, void *) {
  STANDIN_MAY_REFUSE(static_cast<hipError_t>);
  const auto blocks = [](unsigned threads, unsigned block) { return (threads + block - 1) / block; };
  return hipModuleLaunchKernel(function, blocks(tx, bx), blocks(ty, by), blocks(tz, bz), bx, by, bz,
                               static_cast<unsigned>(shared), stream, arguments, extra);
}
hipError_t hipExtModuleLaunchKernel(void *function, unsigned tx, unsigned ty, unsigned tz, unsigned bx, unsigned by,
                                    unsigned bz, size_t shared, hipStream_t stream, void **arguments, void **extra,
                                    void *start, void *stop, unsigned) {
  STANDIN_MAY_REFUSE(static_cast<hipError_t>);
  return hipHccModuleLaunchKernel(function, tx, ty, tz, bx, by, bz, shared, stream, arguments, extra, start, stop);
}
hipError_t hipDrvLaunchKernelEx(const hipLaunchConfig_t *config, void *function, void **arguments, void **extra) {
  STANDIN_MAY_REFUSE(static_cast<hipError_t>);
  const auto &[x, y, z] = config->gridDim;
  const dim3 &block = config->blockDim;
  return hipModuleLaunchKernel(function, x, y, z, block.x, block.y, block.z, 0, config->stream, arguments, extra);
}
// Returns the library's own functions, so calls of them bypass the hooks.
hipError_t hipGetProcAddress(const char *name, void **function, int, uint64_t, void *) {
  constexpr int kNotFound = 500;
  static void *const self = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_NOLOAD);
  *function = self != nullptr ? dlsym(self, name) : nullptr;
  return static_cast<hipError_t>(*function != nullptr ? 0 : kNotFound);
}
hipError_t hipGetDriverEntryPoint(const char *name, void **function, unsigned long long, void *) {
  return hipGetProcAddress(name, function, 0, 0, nullptr);
}
const char *hipKernelNameRefByPtr(const void *kernel, hipStream_t) {
  Dl_info place{};
  dladdr(kernel, &place);
  errno = EXDEV;
  return place.dli_sname;
}
const char *hipKernelNameRef(void *function) { return static_cast<Function *>(function)->name.c_str(); }
}
