// Hooks of CUDA's driver. Programs call it themselves, or through a runtime library that is linked statically.
// cuda/graphs.cpp hooks the launches of kernels that may have counted copies.
#include "cuda/types.h"
#include "devices/forms.h"

MSL_HOOK(libcuda, CUresult, cuMemAlloc_v2, (CUdeviceptr *, size_t))
MSL_HOOK(libcuda, CUresult, cuMemAllocPitch_v2, (CUdeviceptr *, size_t *, size_t, size_t, unsigned))
MSL_HOOK(libcuda, CUresult, cuMemAllocManaged, (CUdeviceptr *, size_t, unsigned))
MSL_HOOK(libcuda, CUresult, cuMemAllocHost_v2, (void **, size_t))
MSL_HOOK(libcuda, CUresult, cuMemHostAlloc, (void **, size_t, unsigned))
MSL_HOOK(libcuda, CUresult, cuMemFree_v2, (CUdeviceptr))
MSL_HOOK(libcuda, CUresult, cuMemFreeHost, (void *))
MSL_HOOK(libcuda, CUresult, cuMemHostRegister_v2, (void *, size_t, unsigned))
MSL_HOOK(libcuda, CUresult, cuMemHostUnregister, (void *))

MSL_HOOK_FORMS(_ptsz, libcuda, CUresult, cuLaunchCooperativeKernel,
               (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **))

MSL_HOOK_FORMS(_ptds, libcuda, CUresult, cuMemcpy, (CUdeviceptr, CUdeviceptr, size_t))
MSL_HOOK_FORMS(_ptsz, libcuda, CUresult, cuMemcpyAsync, (CUdeviceptr, CUdeviceptr, size_t, CUstream))
MSL_HOOK_FORMS(_ptds, libcuda, CUresult, cuMemcpyPeer, (CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t))
MSL_HOOK_FORMS(_ptsz, libcuda, CUresult, cuMemcpyPeerAsync,
               (CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, CUstream))
MSL_HOOK_FORMS(_ptds, libcuda, CUresult, cuMemcpyHtoD_v2, (CUdeviceptr, const void *, size_t))
MSL_HOOK_FORMS(_ptds, libcuda, CUresult, cuMemcpyDtoH_v2, (void *, CUdeviceptr, size_t))
MSL_HOOK_FORMS(_ptds, libcuda, CUresult, cuMemcpyDtoD_v2, (CUdeviceptr, CUdeviceptr, size_t))
MSL_HOOK_FORMS(_ptsz, libcuda, CUresult, cuMemcpyHtoDAsync_v2, (CUdeviceptr, const void *, size_t, CUstream))
MSL_HOOK_FORMS(_ptsz, libcuda, CUresult, cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, CUstream))
MSL_HOOK_FORMS(_ptsz, libcuda, CUresult, cuMemcpyDtoDAsync_v2, (CUdeviceptr, CUdeviceptr, size_t, CUstream))
MSL_HOOK_FORMS(_ptds, libcuda, CUresult, cuMemsetD8_v2, (CUdeviceptr, unsigned char, size_t))
MSL_HOOK_FORMS(_ptsz, libcuda, CUresult, cuMemsetD8Async, (CUdeviceptr, unsigned char, size_t, CUstream))
