// Hooks of AMD's HIP that are as in CUDA's runtime library (cuda/runtime.cpp). hip/graphs.cpp and hip/registered.cpp
// hook the launches of kernels that may have counted copies.
#include "devices/forms.h"
#include "hip/types.h"

MSL_HOOK(libamdhip64, hipError_t, hipSetDevice, (int))

MSL_HOOK(libamdhip64, hipError_t, hipMalloc, (void **, size_t))
MSL_HOOK(libamdhip64, hipError_t, hipExtMallocWithFlags, (void **, size_t, unsigned))
MSL_HOOK(libamdhip64, hipError_t, hipMallocPitch, (void **, size_t *, size_t, size_t))
MSL_HOOK(libamdhip64, hipError_t, hipMemAllocPitch, (hipDeviceptr_t *, size_t *, size_t, size_t, unsigned))
MSL_HOOK(libamdhip64, hipError_t, hipMallocManaged, (void **, size_t, unsigned))
MSL_HOOK(libamdhip64, hipError_t, hipHostMalloc, (void **, size_t, unsigned))
MSL_HOOK(libamdhip64, hipError_t, hipHostAlloc, (void **, size_t, unsigned))
MSL_HOOK(libamdhip64, hipError_t, hipMallocHost, (void **, size_t))
MSL_HOOK(libamdhip64, hipError_t, hipMemAllocHost, (void **, size_t))
MSL_HOOK(libamdhip64, hipError_t, hipFree, (void *))
MSL_HOOK(libamdhip64, hipError_t, hipHostFree, (void *))
MSL_HOOK(libamdhip64, hipError_t, hipFreeHost, (void *))
MSL_HOOK(libamdhip64, hipError_t, hipHostRegister, (void *, size_t, unsigned))
MSL_HOOK(libamdhip64, hipError_t, hipHostUnregister, (void *))

MSL_HOOK(libamdhip64, hipError_t, hipLaunchCooperativeKernel,
         (const void *, dim3, dim3, void **, unsigned, hipStream_t))
MSL_HOOK(libamdhip64, hipError_t, hipLaunchCooperativeKernel_spt,
         (const void *, dim3, dim3, void **, uint32_t, hipStream_t))
MSL_HOOK(libamdhip64, hipError_t, hipModuleLaunchCooperativeKernel,
         (hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, hipStream_t, void **))

MSL_HOOK_FORMS(_spt, libamdhip64, hipError_t, hipMemcpy, (void *, const void *, size_t, hipMemcpyKind))
MSL_HOOK(libamdhip64, hipError_t, hipMemcpyWithStream, (void *, const void *, size_t, hipMemcpyKind, hipStream_t))
MSL_HOOK_FORMS(_spt, libamdhip64, hipError_t, hipMemcpyAsync,
               (void *, const void *, size_t, hipMemcpyKind, hipStream_t))
MSL_HOOK(libamdhip64, hipError_t, hipMemcpyPeer, (void *, int, const void *, int, size_t))
MSL_HOOK(libamdhip64, hipError_t, hipMemcpyPeerAsync, (void *, int, const void *, int, size_t, hipStream_t))
MSL_HOOK(libamdhip64, hipError_t, hipMemcpyHtoD, (hipDeviceptr_t, HostSource *, size_t))
MSL_HOOK(libamdhip64, hipError_t, hipMemcpyHtoDAsync, (hipDeviceptr_t, HostSource *, size_t, hipStream_t))
MSL_HOOK(libamdhip64, hipError_t, hipMemcpyDtoH, (void *, hipDeviceptr_t, size_t))
MSL_HOOK(libamdhip64, hipError_t, hipMemcpyDtoHAsync, (void *, hipDeviceptr_t, size_t, hipStream_t))
MSL_HOOK(libamdhip64, hipError_t, hipMemcpyDtoD, (hipDeviceptr_t, hipDeviceptr_t, size_t))
MSL_HOOK(libamdhip64, hipError_t, hipMemcpyDtoDAsync, (hipDeviceptr_t, hipDeviceptr_t, size_t, hipStream_t))
MSL_HOOK_FORMS(_spt, libamdhip64, hipError_t, hipMemset, (void *, int, size_t))
MSL_HOOK_FORMS(_spt, libamdhip64, hipError_t, hipMemsetAsync, (void *, int, size_t, hipStream_t))
MSL_HOOK(libamdhip64, hipError_t, hipMemsetD8, (hipDeviceptr_t, unsigned char, size_t))
MSL_HOOK(libamdhip64, hipError_t, hipMemsetD8Async, (hipDeviceptr_t, unsigned char, size_t, hipStream_t))
