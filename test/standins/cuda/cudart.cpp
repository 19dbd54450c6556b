// Imitates CUDA's runtime library, with the same symbols and statuses. Tests replace the names to imitate HIP's runtime
// library.
#include "../common/capture.h"
#include "../common/machine.h"
#include "../common/refusal.h"

#include <cuda_runtime_api.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

namespace {

standin::Machine &machine() {
  static auto *const made = new standin::Machine; // never destroyed: code may run after the program's destructors
  return *made;
}

thread_local int current = 0;
thread_local cudaError_t last = cudaSuccess;

constexpr bool kIsHip = "cuda"[0] == 'h';
int version() { return static_cast<int>(standin::fromEnvironment("STANDIN_VERSION", kIsHip ? 60'000'000 : 12090)); }
// Whether each call sets the last error, also a successful call.
const bool keeps_each = kIsHip && version() < 70'000'000;

// Returns the status of a call, and stores it for cudaGetLastError.
cudaError_t said(int status) {
  if (status != cudaSuccess || keeps_each)
    last = static_cast<cudaError_t>(status);
  return static_cast<cudaError_t>(status);
}
// Returns the status of a call that may change errno.
cudaError_t saidWithErrno(int status) {
  errno = EXDEV;
  return said(status);
}

standin::Stream &streamOf(cudaStream_t stream) {
  return stream != nullptr ? *reinterpret_cast<standin::Stream *>(stream) : machine().defaultStream();
}

cudaError_t allocate(void **block, size_t bytes) {
  if (block == nullptr)
    return said(cudaErrorInvalidValue);
  *block = bytes != 0 ? machine().device(static_cast<unsigned>(current)).allocate(bytes) : nullptr;
  return said(bytes == 0 || *block != nullptr ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t release(void *block) {
  const bool is_done = block == nullptr || standin::captures().isKept(block) || machine().release(block);
  return said(is_done ? cudaSuccess : cudaErrorInvalidValue);
}

struct Array {
  cudaChannelFormatDesc format;
  cudaExtent extent;
};
std::mutex arrays_mutex;
auto &arrays = *new std::map<const void *, Array>;

} // namespace

cudaError_t cudaRuntimeGetVersion(int *version) {
  *version = ::version();
  return saidWithErrno(cudaSuccess);
}
cudaError_t cudaGetDeviceCount(int *count) {
  *count = static_cast<int>(machine().count());
  return said(cudaSuccess);
}
cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= static_cast<int>(machine().count()))
    return said(cudaErrorInvalidDevice);
  current = device;
  return said(cudaSuccess);
}
cudaError_t cudaGetDevice(int *device) {
  *device = current;
  return said(cudaSuccess);
}
cudaError_t cudaDeviceGetPCIBusId(char *text, int bytes, int device) {
  machine().bus(static_cast<unsigned>(device), text, bytes);
  return said(cudaSuccess);
}
// The stand-in of NVML calls this function.
extern "C" size_t standin_in_use(size_t bus) { return machine().inUseAt(bus); }
cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
  STANDIN_MAY_REFUSE(saidWithErrno);
  if (const int status = standin::captures().outside(); status != 0)
    return saidWithErrno(status);
  const standin::Memory &memory = machine().device(static_cast<unsigned>(current));
  *free = memory.free();
  *total = memory.total();
  return saidWithErrno(cudaSuccess);
}
cudaError_t cudaGetLastError() {
  const cudaError_t was = last;
  last = cudaSuccess;
  return was;
}
cudaError_t cudaPeekAtLastError() { return last; }

cudaError_t cudaMalloc(void **block, size_t size) {
  STANDIN_MAY_REFUSE(said);
  if (const int status = standin::captures().outside(); status != 0)
    return said(status);
  return allocate(block, size);
}
cudaError_t cudaMallocPitch(void **block, size_t *pitch, size_t width, size_t height) {
  *pitch = (width + 511) / 512 * 512;
  return allocate(block, *pitch * height);
}
cudaError_t cudaMallocManaged(void **block, size_t size, unsigned) {
  STANDIN_MAY_REFUSE(said);
  return allocate(block, size);
}
cudaError_t cudaMallocHost(void **block, size_t size) {
  STANDIN_MAY_REFUSE(said);
  return said((*block = machine().pinned().allocate(size)) != nullptr ? cudaSuccess : cudaErrorMemoryAllocation);
}
cudaError_t cudaHostAlloc(void **block, size_t size, unsigned) { return cudaMallocHost(block, size); }
cudaError_t cudaHostRegister(void *block, size_t size, unsigned) {
  STANDIN_MAY_REFUSE(said);
  if (block == nullptr || size == 0)
    return said(cudaErrorInvalidValue);
  return said(machine().locked().add(block) ? cudaSuccess : cudaErrorHostMemoryAlreadyRegistered);
}
cudaError_t cudaHostUnregister(void *block) {
  STANDIN_MAY_REFUSE(said);
  return said(machine().locked().remove(block) ? cudaSuccess : cudaErrorHostMemoryNotRegistered);
}
cudaError_t cudaMallocAsync(void **block, size_t size, cudaStream_t stream) {
  STANDIN_MAY_REFUSE(said);
  const cudaError_t status = allocate(block, size);
  if (status == cudaSuccess && standin::captures().stateOf(streamOf(stream)) != standin::Captures::kNone)
    standin::captures().keepBlock(*block);
  return status;
}
cudaError_t cudaMallocFromPoolAsync(void **block, size_t size, cudaMemPool_t, cudaStream_t stream) {
  return cudaMallocAsync(block, size, stream);
}
cudaError_t cudaFree(void *block) {
  STANDIN_MAY_REFUSE(said);
  if (const int status = standin::captures().outside(); status != 0)
    return said(status);
  machine().defaultStream().wait();
  return release(block);
}
cudaError_t cudaFreeHost(void *block) {
  STANDIN_MAY_REFUSE(said);
  return release(block);
}
cudaError_t cudaFreeAsync(void *block, cudaStream_t stream) {
  STANDIN_MAY_REFUSE(said);
  if (!standin::captures().isKept(block))
    streamOf(stream).wait();
  return release(block);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind) {
  STANDIN_MAY_REFUSE(said);
  if (const int status = standin::captures().ofDefault(); status != 0)
    return said(status);
  if (to == nullptr || from == nullptr)
    return said(cudaErrorInvalidValue);
  machine().defaultStream().wait();
  const standin::Access access;
  std::memmove(to, from, size);
  return said(cudaSuccess);
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind, cudaStream_t stream) {
  STANDIN_MAY_REFUSE(said);
  if (to == nullptr || from == nullptr)
    return said(cudaErrorInvalidValue);
  streamOf(stream).run([=] { std::memmove(to, from, size); });
  return said(cudaSuccess);
}
cudaError_t cudaMemset(void *to, int value, size_t size) {
  STANDIN_MAY_REFUSE(said);
  machine().defaultStream().wait();
  const standin::Access access;
  std::memset(to, value, size);
  return said(cudaSuccess);
}
cudaError_t cudaMemsetAsync(void *to, int value, size_t size, cudaStream_t stream) {
  STANDIN_MAY_REFUSE(said);
  streamOf(stream).run([=] { std::memset(to, value, size); });
  return said(cudaSuccess);
}

// The elements of an array have the same layout as those of a block.
cudaError_t cudaMallocArray(cudaArray_t *array, const cudaChannelFormatDesc *format, size_t width, size_t height,
                            unsigned flags) {
  return cudaMalloc3DArray(array, format, {width, height, 0}, flags);
}
cudaError_t cudaMalloc3DArray(cudaArray_t *array, const cudaChannelFormatDesc *format, cudaExtent extent, unsigned) {
  const auto bytes = static_cast<size_t>(format->x + format->y + format->z + format->w) / 8;
  const auto orOne = [](size_t count) { return count != 0 ? count : 1; };
  const size_t elements = extent.width * orOne(extent.height) * orOne(extent.depth);
  const cudaError_t status = allocate(reinterpret_cast<void **>(array), bytes * elements);
  const std::lock_guard lock(arrays_mutex);
  if (status == cudaSuccess)
    arrays[*array] = {*format, extent};
  return status;
}
cudaError_t cudaFreeArray(cudaArray_t array) { return release(array); }
cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *array, const cudaChannelFormatDesc *format,
                                     cudaExtent extent, unsigned levels, unsigned flags) {
  if (levels == 0)
    return said(cudaErrorInvalidValue);
  return cudaMalloc3DArray(reinterpret_cast<cudaArray_t *>(array), format,
                           {2 * extent.width, extent.height, extent.depth}, flags);
}
cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array) { return release(array); }
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc *format, cudaExtent *extent, unsigned *, cudaArray_t array) {
  const std::lock_guard lock(arrays_mutex);
  const auto known = arrays.find(array);
  if (known == arrays.end())
    return saidWithErrno(cudaErrorInvalidValue);
  *format = known->second.format;
  if (extent != nullptr)
    *extent = known->second.extent;
  return saidWithErrno(cudaSuccess);
}
cudaError_t cudaMalloc3D(cudaPitchedPtr *block, cudaExtent extent) {
  block->pitch = (extent.width + 511) / 512 * 512;
  block->xsize = extent.width;
  block->ysize = extent.height;
  return allocate(&block->ptr, block->pitch * extent.height * extent.depth);
}
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind) {
  if (to == nullptr || from == nullptr || width > to_pitch || width > from_pitch)
    return said(cudaErrorInvalidValue);
  for (size_t row = 0; row < height; ++row)
    std::memmove(static_cast<char *>(to) + row * to_pitch, static_cast<const char *>(from) + row * from_pitch, width);
  return said(cudaSuccess);
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t) {
  return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}

// In the stand-in, there is no space between the rows of an array.
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *copy) {
  if (copy == nullptr || copy->extent.depth == 0)
    return said(cudaErrorInvalidValue);
  const size_t unit = copy->dstArray != nullptr || copy->srcArray != nullptr ? 4 : 1;
  const size_t row = copy->extent.width * unit, rows = copy->extent.height * copy->extent.depth;
  auto *const to =
      static_cast<char *>(copy->dstArray != nullptr ? static_cast<void *>(copy->dstArray) : copy->dstPtr.ptr);
  auto *const from =
      static_cast<char *>(copy->srcArray != nullptr ? static_cast<void *>(copy->srcArray) : copy->srcPtr.ptr);
  for (size_t i = 0; i < rows; ++i)
    std::memmove(to + i * (copy->dstArray != nullptr ? row : copy->dstPtr.pitch),
                 from + i * (copy->srcArray != nullptr ? row : copy->srcPtr.pitch), row);
  return said(cudaSuccess);
}
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *copy, cudaStream_t) { return cudaMemcpy3D(copy); }
cudaError_t cudaMemcpyPeer(void *to, int, const void *from, int, size_t size) {
  return cudaMemcpy(to, from, size, cudaMemcpyDeviceToDevice);
}
cudaError_t cudaMemcpyPeerAsync(void *to, int, const void *from, int, size_t size, cudaStream_t stream) {
  return cudaMemcpyAsync(to, from, size, cudaMemcpyDeviceToDevice, stream);
}
cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height) {
  if (width > pitch)
    return said(cudaErrorInvalidValue);
  for (size_t row = 0; row < height; ++row)
    std::memset(static_cast<char *>(to) + row * pitch, value, width);
  return said(cudaSuccess);
}
cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t) {
  return cudaMemset2D(to, pitch, value, width, height);
}
cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  return cudaMemset2D(to.ptr, to.pitch, value, extent.width, extent.height * extent.depth);
}
cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t) {
  return cudaMemset3D(to, value, extent);
}

// The arguments may become invalid after the call, and their sizes are unknown. So the call waits, except in a capture.
cudaError_t cudaLaunchKernel(const void *kernel, dim3, dim3, void **arguments, size_t, cudaStream_t stream) {
  STANDIN_MAY_REFUSE(said);
  if (kernel == nullptr)
    return said(cudaErrorInvalidDeviceFunction);
  auto *const function = reinterpret_cast<void (*)(void **)>(reinterpret_cast<uintptr_t>(kernel));
  streamOf(stream).run([=] { function(arguments); });
  if (standin::captures().stateOf(streamOf(stream)) == standin::Captures::kNone)
    streamOf(stream).wait();
  return said(cudaSuccess);
}
cudaError_t cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                                        cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}
// The name of a kernel that the program exports is its symbol.
cudaError_t cudaFuncGetName(const char **name, const void *kernel) {
  STANDIN_MAY_REFUSE(saidWithErrno);
  Dl_info place{};
  dladdr(kernel, &place);
  *name = place.dli_sname;
  return saidWithErrno(*name != nullptr ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel, void **arguments) {
  if (config == nullptr)
    return said(cudaErrorInvalidValue);
  return cudaLaunchKernel(kernel, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes,
                          config->stream);
}

cudaError_t cudaStreamCreate(cudaStream_t *stream) {
  *stream = reinterpret_cast<cudaStream_t>(new standin::Stream);
  return said(cudaSuccess);
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  STANDIN_MAY_REFUSE(saidWithErrno);
  const int status = stream != nullptr ? standin::captures().inside(streamOf(stream)) : standin::captures().ofDefault();
  if (status == 0)
    streamOf(stream).wait();
  return saidWithErrno(status);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete reinterpret_cast<standin::Stream *>(stream);
  return said(cudaSuccess);
}
cudaError_t cudaDeviceSynchronize() {
  if (const int status = standin::captures().outside(); status != 0)
    return said(status);
  machine().defaultStream().wait();
  return said(cudaSuccess);
}
