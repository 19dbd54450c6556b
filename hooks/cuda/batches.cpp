// Hooks of CUDA's functions that make several copies in one call, and of those that make one copy of the same form
// (devices/batches.h).
#include "devices/batches.h"
#include "cuda/runtime_version.h"
#include "cuda/types.h"
#include "devices/rows.h"

#ifndef MSL_VENDOR_HEADERS
using cudaMemcpy3DBatchOp = msleaks::hooks::VolumeCopy<void *>;
using CUDA_MEMCPY3D_BATCH_OP = msleaks::hooks::VolumeCopy<CUdeviceptr>;
#endif

using namespace msleaks::hooks;

namespace {

constexpr auto kCuda = msleaks::abi::Family::Cuda;

MSL_ASKED(array_information, "libcudart", "cudaArrayGetInfo")
constexpr auto kElementBytes = &elementBytes<array_information, cudaChannelFormatDesc>;

// Until version 12, CUDA's runtime library has one more parameter, before the last or the last but one. So a caller of
// a later version has passed the stream as the last parameter but one. The hook passes all parameters on.
constexpr auto kOfRuntime = [](auto real, auto... rest) -> const void * {
  const void *last[sizeof...(rest)] = {reinterpret_cast<const void *>(rest)...};
  return last[sizeof...(rest) - (isBefore13(reinterpret_cast<const void *>(real)) ? 1 : 2)];
};

} // namespace

constexpr auto kRuntimeLists = kCopyLists<kCuda, kOfRuntime>;
constexpr auto kRuntimeVolumes = kCopyVolumes<kCuda, kOfRuntime, kElementBytes>;
constexpr auto kDriverLists = kCopyLists<kCuda, kLastOne>;
constexpr auto kDriverVolumes = kCopyVolumes<kCuda, kLastOne, kElementBytes>;

constexpr auto kWithAttributes = [](auto real, void *caller, auto to, auto from, size_t bytes, auto *attributes,
                                    auto stream) {
  const auto as_given = [&] { return real(to, from, bytes, attributes, stream); };
  return copyLists<kCuda>(as_given, caller, &to, &from, &bytes, 1, stream);
};
constexpr auto kVolumeWithAttributes = [](auto real, void *caller, auto *copy, unsigned long long flags, auto stream) {
  const auto as_given = [&] { return real(copy, flags, stream); };
  return copyVolumes<kCuda, kElementBytes>(as_given, caller, copy, 1, stream);
};

#if defined(CUDART_VERSION) && CUDART_VERSION >= 13000
#define LISTS                                                                                                          \
  (void *const *, const void *const *, const size_t *, size_t, cudaMemcpyAttributes *, size_t *, size_t, cudaStream_t)
#define VOLUMES (size_t, cudaMemcpy3DBatchOp *, unsigned long long, cudaStream_t)
#else
#define LISTS (void **, void **, size_t *, size_t, cudaMemcpyAttributes *, size_t *, size_t, size_t *, cudaStream_t)
#define VOLUMES (size_t, cudaMemcpy3DBatchOp *, size_t *, unsigned long long, cudaStream_t)
#endif
MSL_HOOK_FORMS_WITH(kRuntimeLists, _ptsz, libcudart, cudaError_t, cudaMemcpyBatchAsync, LISTS)
MSL_HOOK_FORMS_WITH(kRuntimeVolumes, _ptsz, libcudart, cudaError_t, cudaMemcpy3DBatchAsync, VOLUMES)

MSL_HOOK_FORMS_WITH(kDriverLists, _ptsz, libcuda, CUresult, cuMemcpyBatchAsync,
                    (CUdeviceptr *, CUdeviceptr *, size_t *, size_t, CUmemcpyAttributes *, size_t *, size_t, size_t *,
                     CUstream))
MSL_HOOK_FORMS_WITH(kDriverLists, _ptsz, libcuda, CUresult, cuMemcpyBatchAsync_v2,
                    (CUdeviceptr *, CUdeviceptr *, size_t *, size_t, CUmemcpyAttributes *, size_t *, size_t, CUstream))
MSL_HOOK_FORMS_WITH(kDriverVolumes, _ptsz, libcuda, CUresult, cuMemcpy3DBatchAsync,
                    (size_t, CUDA_MEMCPY3D_BATCH_OP *, size_t *, unsigned long long, CUstream))
MSL_HOOK_FORMS_WITH(kDriverVolumes, _ptsz, libcuda, CUresult, cuMemcpy3DBatchAsync_v2,
                    (size_t, CUDA_MEMCPY3D_BATCH_OP *, unsigned long long, CUstream))

// Since CUDA 13.
MSL_HOOK_FORMS_WITH(kWithAttributes, _ptsz, libcudart, cudaError_t, cudaMemcpyWithAttributesAsync,
                    (void *, const void *, size_t, cudaMemcpyAttributes *, cudaStream_t))
MSL_HOOK_FORMS_WITH(kVolumeWithAttributes, _ptsz, libcudart, cudaError_t, cudaMemcpy3DWithAttributesAsync,
                    (cudaMemcpy3DBatchOp *, unsigned long long, cudaStream_t))
MSL_HOOK_FORMS_WITH(kWithAttributes, _ptsz, libcuda, CUresult, cuMemcpyWithAttributesAsync,
                    (CUdeviceptr, CUdeviceptr, size_t, CUmemcpyAttributes *, CUstream))
MSL_HOOK_FORMS_WITH(kVolumeWithAttributes, _ptsz, libcuda, CUresult, cuMemcpy3DWithAttributesAsync,
                    (CUDA_MEMCPY3D_BATCH_OP *, unsigned long long, CUstream))
