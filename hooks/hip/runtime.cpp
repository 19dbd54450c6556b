// Hooks of AMD's HIP that need no body. hip/graphs.cpp and hip/registered.cpp hook the launches of kernels that may
// have counted copies.
#include "hip/rows.h"

#include "devices/plain_rows.def"

MSL_HOOK(libamdhip64, hipError_t, hipExtMallocWithFlags, (void **, size_t, unsigned))
MSL_HOOK(libamdhip64, hipError_t, hipMemAllocPitch, (hipDeviceptr_t *, size_t *, size_t, size_t, unsigned))
MSL_HOOK(libamdhip64, hipError_t, hipHostMalloc, (void **, size_t, unsigned))
MSL_HOOK(libamdhip64, hipError_t, hipMemAllocHost, (void **, size_t))
MSL_HOOK(libamdhip64, hipError_t, hipHostFree, (void *))

MSL_HOOK_FORMS(_spt, libamdhip64, hipError_t, hipLaunchCooperativeKernel,
               (const void *, dim3, dim3, void **, unsigned, hipStream_t))
MSL_HOOK(libamdhip64, hipError_t, hipModuleLaunchCooperativeKernel,
         (hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, hipStream_t, void **))

MSL_HOOK(libamdhip64, hipError_t, hipMemcpyWithStream, (void *, const void *, size_t, hipMemcpyKind, hipStream_t))

MSL_HOOK(libamdhip64, hipError_t, hipCtxCreate, (hipCtx_t *, unsigned, hipDevice_t))
MSL_HOOK(libamdhip64, hipError_t, hipCtxDestroy, (hipCtx_t))
