// Hooks of CUDA's functions for arrays, physical memory and imported memory (devices/memory_rows.def).
#include "cuda/rows.h"
#include "devices/device.h"
#include "devices/imports.h"

using namespace msleaks::hooks;

namespace {

MSL_ASKED(range, "libcuda", "cuMemGetAddressRange_v2")

// CUDA's runtime library has no such function, but always loads the driver.
constexpr auto kRangeOf = [](auto... arguments) {
  return callReal<int(uint64_t *, size_t *, uint64_t)>(range, arguments...);
};
constexpr auto kOpens = kOpened<kVendor, kRangeOf>;

} // namespace

#include "devices/memory_rows.def"

MSL_HOOK_WITH(kShared<kVendor>, libcuda, CUresult, cuMulticastCreate,
              (CUmemGenericAllocationHandle *, const CUmulticastObjectProp *))
MSL_HOOK_WITH(kOpens, libcuda, CUresult, cuIpcOpenMemHandle, (CUdeviceptr *, CUipcMemHandle, unsigned))
MSL_HOOK_WITH(kOpens, libcuda, CUresult, cuIpcOpenMemHandle_v2, (CUdeviceptr *, CUipcMemHandle, unsigned))
MSL_HOOK_WITH(kClosed<kVendor>, libcuda, CUresult, cuIpcCloseMemHandle, (CUdeviceptr))
MSL_HOOK_WITH(kOpens, libcuda, CUresult, cuMemPoolImportPointer,
              (CUdeviceptr *, CUmemoryPool, CUmemPoolPtrExportData *))
MSL_HOOK_WITH(kMappedBuffer<kVendor>, libcuda, CUresult, cuExternalMemoryGetMappedBuffer,
              (CUdeviceptr *, CUexternalMemory, const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *))
MSL_HOOK_WITH(kMappedArray<kVendor>, libcuda, CUresult, cuExternalMemoryGetMappedMipmappedArray,
              (CUmipmappedArray *, CUexternalMemory, const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *))
