// Hooks of HIP's functions for arrays, physical memory and imported memory.
#include "core/rows.h"
#include "devices/imports.h"
#include "hip/ask.h"
#include "hip/rows.h"

using namespace msleaks::hooks;

namespace {

MSL_ASKED(range, "libamdhip64", "hipMemGetAddressRange")

constexpr auto kRangeOf = [](auto... arguments) {
  return hip::ask<int(uint64_t *, size_t *, uint64_t)>(range, arguments...);
};
constexpr auto kOpens = kOpened<kVendor, kRangeOf>;

} // namespace

#define MSL_PART_MEMORY
#include "msleaks/abi/functions/hip.def"
