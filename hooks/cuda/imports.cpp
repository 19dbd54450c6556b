// Hooks of CUDA's functions that open memory of another process or of another driver (devices/imports.h).
#include "devices/imports.h"
#include "cuda/types.h"
#include "devices/device.h"

using namespace msleaks::hooks;

namespace {

constexpr auto kCuda = msleaks::abi::Family::Cuda;
using Closed = EndOfImport<kCuda>;

MSL_ASKED(range, "libcuda", "cuMemGetAddressRange_v2")

// CUDA's runtime library has no such function, but always loads the driver.
uint64_t bytesFrom(uint64_t address) {
  uint64_t begin = 0;
  size_t bytes = 0;
  const int32_t status = callReal<int(uint64_t *, size_t *, uint64_t)>(range, &begin, &bytes, address);
  return status == 0 ? begin + bytes - address : 0;
}

constexpr auto kOpens = kOpened<kCuda, bytesFrom>;

} // namespace

MSL_HOOK_WITH(kOpens, libcudart, cudaError_t, cudaIpcOpenMemHandle, (void **, cudaIpcMemHandle_t, unsigned))
MSL_HOOK_WITH(kOpens, libcudart, cudaError_t, cudaMemPoolImportPointer,
              (void **, cudaMemPool_t, cudaMemPoolPtrExportData *))
MSL_HOOK_WITH(kMappedBuffer<kCuda>, libcudart, cudaError_t, cudaExternalMemoryGetMappedBuffer,
              (void **, cudaExternalMemory_t, const cudaExternalMemoryBufferDesc *))
MSL_HOOK_WITH(kMappedArray<kCuda>, libcudart, cudaError_t, cudaExternalMemoryGetMappedMipmappedArray,
              (cudaMipmappedArray_t *, cudaExternalMemory_t, const cudaExternalMemoryMipmappedArrayDesc *))
MSL_HOOK_AS(Closed, libcudart, cudaError_t, cudaIpcCloseMemHandle, (void *))

MSL_HOOK_WITH(kOpens, libcuda, CUresult, cuIpcOpenMemHandle, (CUdeviceptr *, CUipcMemHandle, unsigned))
MSL_HOOK_WITH(kOpens, libcuda, CUresult, cuIpcOpenMemHandle_v2, (CUdeviceptr *, CUipcMemHandle, unsigned))
MSL_HOOK_WITH(kOpens, libcuda, CUresult, cuMemPoolImportPointer,
              (CUdeviceptr *, CUmemoryPool, CUmemPoolPtrExportData *))
MSL_HOOK_WITH(kMappedBuffer<kCuda>, libcuda, CUresult, cuExternalMemoryGetMappedBuffer,
              (CUdeviceptr *, CUexternalMemory, const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *))
MSL_HOOK_WITH(kMappedArray<kCuda>, libcuda, CUresult, cuExternalMemoryGetMappedMipmappedArray,
              (CUmipmappedArray *, CUexternalMemory, const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *))
MSL_HOOK_AS(Closed, libcuda, CUresult, cuIpcCloseMemHandle, (CUdeviceptr))
MSL_HOOK_WITH(kImported<kCuda>, libcuda, CUresult, cuMemImportFromShareableHandle,
              (CUmemGenericAllocationHandle *, void *, CUmemAllocationHandleType))
