// Hooks of CUDA's copies and fills that the effects of a row cannot describe.
#include "devices/copies.h"
#include "core/rows.h"
#include "cuda/rows.h"

using namespace msleaks::hooks;

namespace {
MSL_ASKED(array_information, "libcudart", "cudaArrayGetInfo")
constexpr auto kCopyParms = kCopy3D<kVendor, array_information, cudaChannelFormatDesc>;
constexpr MemoryTypes kTypes = {.host = 1, .array = 3};
constexpr auto kDriverCopy = [](auto real, void *caller, const auto *copy, auto... stream) {
  const auto as_given = [&] { return real(copy, stream...); };
  return copy != nullptr ? copyDescribed<kVendor>(as_given, caller, kTypes, *copy, stream...) : as_given();
};
} // namespace

#define MSL_PART_COPIES
#include "msleaks/abi/functions/cuda.def"
