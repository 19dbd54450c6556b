// Hooks of HIP's functions that open memory of another process or of another driver (devices/imports.h).
#include "devices/imports.h"
#include "devices/device.h"
#include "hip/types.h"

// HIP 5 does not have it.
struct MipmappedArrayOfHip {
  unsigned long long offset;
  struct {
    int x, y, z, w, f;
  } formatDesc;
  struct {
    size_t width, height, depth;
  } extent;
  unsigned flags, numLevels;
};

using namespace msleaks::hooks;

namespace {

constexpr auto kHip = msleaks::abi::Family::Hip;
using Closed = EndOfImport<kHip>;

MSL_ASKED(range, "libamdhip64", "hipMemGetAddressRange")
MSL_ASKED(look_at_error, "libamdhip64", "hipPeekAtLastError")
MSL_ASKED(take_error, "libamdhip64", "hipGetLastError")

uint64_t bytesFrom(uint64_t address) {
  uint64_t begin = 0;
  size_t bytes = 0;
  const int32_t status = leavingLastError({look_at_error, take_error}, [&] {
    return callReal<int(uint64_t *, size_t *, uint64_t)>(range, &begin, &bytes, address);
  });
  return status == 0 ? begin + bytes - address : 0;
}

constexpr auto kOpens = kOpened<kHip, bytesFrom>;

} // namespace

MSL_HOOK_WITH(kOpens, libamdhip64, hipError_t, hipIpcOpenMemHandle, (void **, hipIpcMemHandle_t, unsigned))
MSL_HOOK_WITH(kOpens, libamdhip64, hipError_t, hipMemPoolImportPointer,
              (void **, hipMemPool_t, hipMemPoolPtrExportData *))
MSL_HOOK_WITH(kMappedBuffer<kHip>, libamdhip64, hipError_t, hipExternalMemoryGetMappedBuffer,
              (void **, hipExternalMemory_t, const hipExternalMemoryBufferDesc *))
MSL_HOOK_WITH(kMappedArray<kHip>, libamdhip64, hipError_t, hipExternalMemoryGetMappedMipmappedArray,
              (hipMipmappedArray_t *, hipExternalMemory_t, const MipmappedArrayOfHip *))
MSL_HOOK_AS(Closed, libamdhip64, hipError_t, hipIpcCloseMemHandle, (void *))
MSL_HOOK_WITH(kImported<kHip>, libamdhip64, hipError_t, hipMemImportFromShareableHandle,
              (hipMemGenericAllocationHandle_t *, void *, hipMemAllocationHandleType))
