// Hooks of CUDA's functions for arrays, physical memory and imported memory.
#include "core/rows.h"
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

#define MSL_PART_MEMORY
#include "msleaks/abi/functions/cuda.def"
