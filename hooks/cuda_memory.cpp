// What of CUDA a row alone cannot say: physical memory, whose device stands in a property; memory of two and three
// dimensions, whose size somebody has to work out; graphs, which are launched as one.
#include "msleaks/hook.h"

#include <cstddef>

#ifdef MSL_VENDOR_HEADERS
#include <cuda.h>
#include <cuda_runtime_api.h>
#else
using cudaError_t = int;
using cudaStream_t = void *;
using cudaGraphExec_t = void *;
using cudaArray_t = void *;
using cudaMemcpyKind = int;
struct cudaChannelFormatDesc {
  int x, y, z, w, f;
};
struct cudaExtent {
  size_t width, height, depth;
};
struct cudaPitchedPtr {
  void *ptr;
  size_t pitch, xsize, ysize;
};
using CUresult = int;
using CUstream = void *;
using CUgraphExec = void *;
using CUmemGenericAllocationHandle = unsigned long long;
struct CUmemLocation {
  int type, id;
};
struct CUmemAllocationProp {
  int type, requestedHandleTypes;
  CUmemLocation location;
};
#endif

namespace {

using namespace msleaks;

// `kSize`: the parameter that is the size, or one more that we add.
template <int kSize> struct Take {
  static constexpr abi::Symbol kRow = {.name = "cuMemCreate",
                                       .verb = abi::Verb::Alloc,
                                       .family = abi::Family::Cuda,
                                       .heap = abi::Heap::Device,
                                       .result = {abi::ResultKind::Out, abi::Position(0)},
                                       .size = abi::Position(kSize)};
};
struct Give {
  static constexpr abi::Symbol kRow = {.name = "cuMemRelease",
                                       .verb = abi::Verb::Free,
                                       .family = abi::Family::Cuda,
                                       .heap = abi::Heap::Device,
                                       .address = abi::Position(0),
                                       .status = true};
};
struct Launch {
  static constexpr abi::Symbol kRow = {.name = "cudaGraphLaunch",
                                       .verb = abi::Verb::Launch,
                                       .family = abi::Family::Cuda,
                                       .heap = abi::Heap::Device,
                                       .kernel = abi::Position(0),
                                       .stream = abi::Position(1),
                                       .status = true};
};
// To, from, bytes, stream, direction: the parameters that we hand on.
template <uint16_t kFlags> struct Copy {
  static constexpr abi::Symbol kRow = {.name = "cudaMemcpy2D",
                                       .verb = abi::Verb::Copy,
                                       .family = abi::Family::Cuda,
                                       .heap = abi::Heap::Device,
                                       .flags = kFlags,
                                       .size = abi::Position(2),
                                       .address = abi::Position(0),
                                       .source = abi::Position(1),
                                       .direction = abi::Position(4),
                                       .stream = abi::Position(3),
                                       .status = true};
};

// A device's, not the host's: the others are not hooked.
constexpr auto kPhysical = [](auto real, void *caller, CUmemGenericAllocationHandle *handle, size_t bytes,
                              const CUmemAllocationProp *property, unsigned long long flags) {
  constexpr int kOnDevice = 1;
  const bool is_on_device = property != nullptr && static_cast<int>(property->location.type) == kOnDevice;
  if (!is_on_device)
    return real(handle, bytes, property, flags);
  const hook::WithDevice device(abi::Family::Cuda, static_cast<uint32_t>(property->location.id));
  return hook::callRecorded<Take<1>>(real, caller, handle, bytes, property, flags);
};

// Of an element, in bytes.
size_t bytesOf(const cudaChannelFormatDesc *format) {
  return format != nullptr ? static_cast<size_t>(format->x + format->y + format->z + format->w) / 8 : 0;
}
size_t orOne(size_t count) { return count != 0 ? count : 1; }

constexpr auto kArray = [](auto real, void *caller, cudaArray_t *array, const cudaChannelFormatDesc *format,
                           size_t width, size_t height, unsigned flags) {
  const auto with_size = [=](cudaArray_t *made, size_t) { return real(made, format, width, height, flags); };
  return hook::callRecorded<Take<1>>(with_size, caller, array, bytesOf(format) * width * orOne(height));
};
constexpr auto kArray3D = [](auto real, void *caller, cudaArray_t *array, const cudaChannelFormatDesc *format,
                             cudaExtent extent, unsigned flags) {
  const auto with_size = [=](cudaArray_t *made, size_t) { return real(made, format, extent, flags); };
  const size_t elements = extent.width * orOne(extent.height) * orOne(extent.depth);
  return hook::callRecorded<Take<1>>(with_size, caller, array, bytesOf(format) * elements);
};
// What it asks for: the driver makes rows longer.
constexpr auto kPitched3D = [](auto real, void *caller, cudaPitchedPtr *block, cudaExtent extent) {
  const auto with_size = [=](void **, size_t) { return real(block, extent); };
  void **const where = block != nullptr ? &block->ptr : nullptr;
  return hook::callRecorded<Take<1>>(with_size, caller, where, extent.width * extent.height * extent.depth);
};

constexpr auto kCopy2D = [](auto real, void *caller, void *to, size_t to_pitch, const void *from, size_t from_pitch,
                            size_t width, size_t height, cudaMemcpyKind kind) {
  const auto in_rows = [=](void *, const void *, size_t, void *, int) {
    return real(to, to_pitch, from, from_pitch, width, height, kind);
  };
  void *const none = nullptr;
  return hook::callRecorded<Copy<0>>(in_rows, caller, to, from, width * height, none, static_cast<int>(kind));
};
constexpr auto kCopy2DAsync = [](auto real, void *caller, void *to, size_t to_pitch, const void *from,
                                 size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind,
                                 cudaStream_t stream) {
  const auto in_rows = [=](void *, const void *, size_t, void *, int) {
    return real(to, to_pitch, from, from_pitch, width, height, kind, stream);
  };
  void *const given = stream;
  return hook::callRecorded<Copy<abi::kAsync>>(in_rows, caller, to, from, width * height, given,
                                               static_cast<int>(kind));
};

} // namespace

MSL_HOOK_WITH(kPhysical, libcuda, CUresult, cuMemCreate,
              (CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *, unsigned long long))
MSL_HOOK_AS(Give, libcuda, CUresult, cuMemRelease, (CUmemGenericAllocationHandle))

MSL_HOOK_WITH(kArray, libcudart, cudaError_t, cudaMallocArray,
              (cudaArray_t *, const cudaChannelFormatDesc *, size_t, size_t, unsigned))
MSL_HOOK_WITH(kArray3D, libcudart, cudaError_t, cudaMalloc3DArray,
              (cudaArray_t *, const cudaChannelFormatDesc *, cudaExtent, unsigned))
MSL_HOOK_AS(Give, libcudart, cudaError_t, cudaFreeArray, (cudaArray_t))
MSL_HOOK_WITH(kPitched3D, libcudart, cudaError_t, cudaMalloc3D, (cudaPitchedPtr *, cudaExtent))

MSL_HOOK_WITH(kCopy2D, libcudart, cudaError_t, cudaMemcpy2D,
              (void *, size_t, const void *, size_t, size_t, size_t, cudaMemcpyKind))
MSL_HOOK_WITH(kCopy2DAsync, libcudart, cudaError_t, cudaMemcpy2DAsync,
              (void *, size_t, const void *, size_t, size_t, size_t, cudaMemcpyKind, cudaStream_t))

MSL_HOOK_AS(Launch, libcudart, cudaError_t, cudaGraphLaunch, (cudaGraphExec_t, cudaStream_t))
MSL_HOOK_AS(Launch, libcudart, cudaError_t, cudaGraphLaunch_ptsz, (cudaGraphExec_t, cudaStream_t))
MSL_HOOK_AS(Launch, libcuda, CUresult, cuGraphLaunch, (CUgraphExec, CUstream))
MSL_HOOK_AS(Launch, libcuda, CUresult, cuGraphLaunch_ptsz, (CUgraphExec, CUstream))
