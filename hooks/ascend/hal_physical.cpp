// Hooks of Ascend's driver for physical memory. A program maps it to addresses that it has reserved, as torch_npu does
// for expandable segments. hal.cpp hooks halMemCreate, which allocates the memory.
#include "ascend/hal.h"
#include "devices/memory.h"

using namespace msleaks;
using namespace msleaks::hooks;

namespace {

constexpr auto kAcl = abi::Family::Acl;

// The parameters are those of CUDA's functions.
template <hook::Name kName> struct AsInCuda {
  static constexpr abi::Symbol kRow = [] {
    abi::Symbol row = hook::Known<kName>::kRow;
    row.family = kAcl;
    return row;
  }();
};
using Map = AsInCuda<"cuMemMap">;
using Unmap = AsInCuda<"cuMemUnmap">;

// The driver unmaps the whole range that begins at the address. A report finds the range by its first byte.
constexpr auto kUnmap = [](auto real, void *caller, void *address) {
  const auto without_size = [=](void *, size_t) { return real(address); };
  return hook::callRecorded<Unmap>(without_size, caller, address, size_t{1});
};

constexpr auto kImport = [](auto real, void *, uint64_t shared, uint32_t device, void **handle) {
  return afterUnseen<kAcl>(real(shared, device, handle), handle);
};

} // namespace

MSL_HAL_HOOK(kMapped<Map>, halMemMap, (void *, size_t, size_t, void *, unsigned long long))
MSL_HAL_HOOK(kUnmap, halMemUnmap, (void *))
MSL_HAL_HOOK(kReleased<kAcl>, halMemRelease, (void *))
MSL_HAL_HOOK(kRetained<kAcl>, halMemRetainAllocationHandle, (void **, void *))
MSL_HAL_HOOK(kImport, halMemImportFromShareableHandle, (uint64_t, uint32_t, void **))
