// Hooks of CUDA's shared runtime library. If it is linked statically, the hooks of the driver record its calls
// (cuda/driver.cpp).
#include "cuda/types.h"
#include "devices/forms.h"

#ifdef MSL_VENDOR_HEADERS
static_assert(offsetof(cudaLaunchConfig_t, blockDim) == offsetof(msleaks::abi::LaunchConfig, block));
static_assert(offsetof(cudaLaunchConfig_t, dynamicSmemBytes) == offsetof(msleaks::abi::LaunchConfig, shared_bytes));
static_assert(offsetof(cudaLaunchConfig_t, stream) == offsetof(msleaks::abi::LaunchConfig, stream));
#endif

MSL_HOOK(libcudart, cudaError_t, cudaSetDevice, (int))

MSL_HOOK(libcudart, cudaError_t, cudaMalloc, (void **, size_t))
MSL_HOOK(libcudart, cudaError_t, cudaMallocPitch, (void **, size_t *, size_t, size_t))
MSL_HOOK(libcudart, cudaError_t, cudaMallocManaged, (void **, size_t, unsigned))
MSL_HOOK(libcudart, cudaError_t, cudaMallocHost, (void **, size_t))
MSL_HOOK(libcudart, cudaError_t, cudaHostAlloc, (void **, size_t, unsigned))
MSL_HOOK(libcudart, cudaError_t, cudaFree, (void *))
MSL_HOOK(libcudart, cudaError_t, cudaFreeHost, (void *))
MSL_HOOK(libcudart, cudaError_t, cudaHostRegister, (void *, size_t, unsigned))
MSL_HOOK(libcudart, cudaError_t, cudaHostUnregister, (void *))

MSL_HOOK_FORMS(_ptsz, libcudart, cudaError_t, cudaLaunchKernel,
               (const void *, dim3, dim3, void **, size_t, cudaStream_t))
MSL_HOOK_FORMS(_ptsz, libcudart, cudaError_t, cudaLaunchCooperativeKernel,
               (const void *, dim3, dim3, void **, size_t, cudaStream_t))
MSL_HOOK_FORMS(_ptsz, libcudart, cudaError_t, cudaLaunchKernelExC, (const cudaLaunchConfig_t *, const void *, void **))

MSL_HOOK_FORMS(_ptds, libcudart, cudaError_t, cudaMemcpy, (void *, const void *, size_t, cudaMemcpyKind))
MSL_HOOK_FORMS(_ptsz, libcudart, cudaError_t, cudaMemcpyAsync,
               (void *, const void *, size_t, cudaMemcpyKind, cudaStream_t))
MSL_HOOK(libcudart, cudaError_t, cudaMemcpyPeer, (void *, int, const void *, int, size_t))
MSL_HOOK(libcudart, cudaError_t, cudaMemcpyPeerAsync, (void *, int, const void *, int, size_t, cudaStream_t))
MSL_HOOK_FORMS(_ptds, libcudart, cudaError_t, cudaMemset, (void *, int, size_t))
MSL_HOOK_FORMS(_ptsz, libcudart, cudaError_t, cudaMemsetAsync, (void *, int, size_t, cudaStream_t))
