// Hooks of CUDA's driver that need no body, and that HIP does not have (devices/plain_rows.def). Programs call the
// driver themselves, or through a runtime library that is linked statically. cuda/graphs.cpp hooks the launches of
// kernels that may have counted copies.
#include "cuda/types.h"
#include "devices/rows.h"

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

MSL_HOOK(libcuda, CUresult, cuStreamCreate, (CUstream *, unsigned))
MSL_HOOK(libcuda, CUresult, cuStreamCreateWithPriority, (CUstream *, unsigned, int))
MSL_HOOK(libcuda, CUresult, cuGreenCtxStreamCreate, (CUstream *, CUgreenCtx, unsigned, int))
MSL_HOOK(libcuda, CUresult, cuStreamDestroy_v2, (CUstream))
MSL_HOOK(libcuda, CUresult, cuEventCreate, (CUevent *, unsigned))
MSL_HOOK(libcuda, CUresult, cuEventDestroy_v2, (CUevent))
MSL_HOOK(libcuda, CUresult, cuModuleLoadFatBinary, (CUmodule *, const void *))
MSL_HOOK(libcuda, CUresult, cuLibraryLoadData,
         (CUlibrary *, const void *, CUjit_option *, void **, unsigned, CUlibraryOption *, void **, unsigned))
MSL_HOOK(libcuda, CUresult, cuLibraryLoadFromFile,
         (CUlibrary *, const char *, CUjit_option *, void **, unsigned, CUlibraryOption *, void **, unsigned))
MSL_HOOK(libcuda, CUresult, cuGraphCreate, (CUgraph *, unsigned))
MSL_HOOK(libcuda, CUresult, cuGraphClone, (CUgraph *, CUgraph))
MSL_HOOK_FORMS(_ptsz, libcuda, CUresult, cuStreamEndCapture, (CUstream, CUgraph *))
