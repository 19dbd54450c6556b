// Hooks of CUDA's memory functions that a row of symbols.def cannot describe (devices/memory.h), and of functions that
// map physical memory to addresses.
#include "devices/memory.h"
#include "cuda/types.h"

using namespace msleaks::hooks;

namespace {
constexpr auto kCuda = msleaks::abi::Family::Cuda;
} // namespace

MSL_HOOK_WITH(kPhysical<kCuda>, libcuda, CUresult, cuMemCreate,
              (CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *, unsigned long long))
MSL_HOOK_WITH(kShared<kCuda>, libcuda, CUresult, cuMulticastCreate,
              (CUmemGenericAllocationHandle *, const CUmulticastObjectProp *))
MSL_HOOK_WITH(kReleased<kCuda>, libcuda, CUresult, cuMemRelease, (CUmemGenericAllocationHandle))
MSL_HOOK_WITH(kRetained<kCuda>, libcuda, CUresult, cuMemRetainAllocationHandle,
              (CUmemGenericAllocationHandle *, void *))
MSL_HOOK(libcuda, CUresult, cuMemMap, (CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long))
MSL_HOOK(libcuda, CUresult, cuMemUnmap, (CUdeviceptr, size_t))

MSL_HOOK_WITH(kPitched3D<kCuda>, libcudart, cudaError_t, cudaMalloc3D, (cudaPitchedPtr *, cudaExtent))
