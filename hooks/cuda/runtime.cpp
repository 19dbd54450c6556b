// Hooks of CUDA's shared runtime library that need no body. devices/plain_rows.def also has functions of the driver.
// If the runtime library is linked statically, the hooks of the driver record its calls.
#include "cuda/rows.h"

#ifdef MSL_VENDOR_HEADERS
static_assert(offsetof(cudaLaunchConfig_t, blockDim) == offsetof(msleaks::abi::LaunchConfig, block));
static_assert(offsetof(cudaLaunchConfig_t, dynamicSmemBytes) == offsetof(msleaks::abi::LaunchConfig, shared_bytes));
static_assert(offsetof(cudaLaunchConfig_t, stream) == offsetof(msleaks::abi::LaunchConfig, stream));
#endif

#include "devices/plain_rows.def"

MSL_HOOK_FORMS(_ptsz, libcudart, cudaError_t, cudaLaunchKernel,
               (const void *, dim3, dim3, void **, size_t, cudaStream_t))
MSL_HOOK_FORMS(_ptsz, libcudart, cudaError_t, cudaLaunchCooperativeKernel,
               (const void *, dim3, dim3, void **, size_t, cudaStream_t))
MSL_HOOK_FORMS(_ptsz, libcudart, cudaError_t, cudaLaunchKernelExC, (const cudaLaunchConfig_t *, const void *, void **))
MSL_HOOK(libcudart, cudaError_t, cudaExecutionCtxStreamCreate, (cudaStream_t *, cudaExecutionContext_t, unsigned, int))
MSL_HOOK_FORMS(_ptsz, libcudart, cudaError_t, cudaMemcpyToArrayAsync,
               (cudaArray_t, size_t, size_t, const void *, size_t, cudaMemcpyKind, cudaStream_t))
MSL_HOOK_FORMS(_ptsz, libcudart, cudaError_t, cudaMemcpyFromArrayAsync,
               (void *, cudaArray_const_t, size_t, size_t, size_t, cudaMemcpyKind, cudaStream_t))
MSL_HOOK_FORMS(_ptds, libcudart, cudaError_t, cudaMemcpyArrayToArray,
               (cudaArray_t, size_t, size_t, cudaArray_const_t, size_t, size_t, size_t, cudaMemcpyKind))
