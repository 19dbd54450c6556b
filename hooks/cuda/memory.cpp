// Hooks of CUDA's memory functions that a row of symbols.def cannot describe (devices/memory.h), and of functions that
// map physical memory to addresses.
#include "devices/memory.h"

#ifdef MSL_VENDOR_HEADERS
#include <cuda.h>
#include <cuda_runtime_api.h>
#else
using cudaError_t = int;
struct cudaExtent {
  size_t width, height, depth;
};
struct cudaPitchedPtr {
  void *ptr;
  size_t pitch, xsize, ysize;
};
using CUresult = int;
using CUdeviceptr = unsigned long long;
using CUmemGenericAllocationHandle = unsigned long long;
using CUmulticastObjectProp = void;
struct CUmemLocation {
  int type, id;
};
struct CUmemAllocationProp {
  int type, requestedHandleTypes;
  CUmemLocation location;
};
#endif

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
