// Hooks of HIP's functions that make several copies in one call (devices/batches.h). HIP has them since version 7.
#include "devices/batches.h"
#include "core/rows.h"
#include "hip/rows.h"

#if !defined(HIP_VERSION_MAJOR) || HIP_VERSION_MAJOR < 7
using hipMemcpy3DBatchOp = msleaks::hooks::VolumeCopy<void *>;
#endif

using namespace msleaks::hooks;

namespace {
constexpr auto kHip = msleaks::abi::Family::Hip;
MSL_ASKED(array_information, "libamdhip64", "hipArrayGetInfo")
constexpr auto kLists = kCopyLists<kHip, kLastOne>;
constexpr auto kVolumes = kCopyVolumes<kHip, kLastOne, &elementBytes<array_information, hipChannelFormatDesc>>;
} // namespace

#define MSL_PART_BATCHES
#include "msleaks/abi/functions/hip.def"
