// Hooks of CUDA's functions that make several copies in one call, and of those that make one copy of the same form
// (devices/batches.h).
#include "devices/batches.h"
#include "core/rows.h"
#include "cuda/rows.h"
#include "cuda/runtime_version.h"

#ifndef MSL_VENDOR_HEADERS
using cudaMemcpy3DBatchOp = msleaks::hooks::VolumeCopy<void *>;
using CUDA_MEMCPY3D_BATCH_OP = msleaks::hooks::VolumeCopy<CUdeviceptr>;
#endif

using namespace msleaks::hooks;

namespace {

constexpr auto kCuda = msleaks::abi::Family::Cuda;

MSL_ASKED(array_information, "libcudart", "cudaArrayGetInfo")
constexpr auto kElementBytes = &elementBytes<array_information, cudaChannelFormatDesc>;

// Until version 12, CUDA's runtime library has one more parameter, before the last or the last but one. So a caller of
// a later version has passed the stream as the last parameter but one. The hook passes all parameters on.
constexpr auto kOfRuntime = [](auto real, auto... rest) -> const void * {
  const void *last[sizeof...(rest)] = {reinterpret_cast<const void *>(rest)...};
  return last[sizeof...(rest) - (isBefore13(reinterpret_cast<const void *>(real)) ? 1 : 2)];
};

constexpr auto kRuntimeLists = kCopyLists<kCuda, kOfRuntime>;
constexpr auto kRuntimeVolumes = kCopyVolumes<kCuda, kOfRuntime, kElementBytes>;
constexpr auto kDriverLists = kCopyLists<kCuda, kLastOne>;
constexpr auto kDriverVolumes = kCopyVolumes<kCuda, kLastOne, kElementBytes>;

constexpr auto kWithAttributes = [](auto real, void *caller, auto to, auto from, size_t bytes, auto *attributes,
                                    auto stream) {
  const auto as_given = [&] { return real(to, from, bytes, attributes, stream); };
  return copyLists<kCuda>(as_given, caller, &to, &from, &bytes, 1, stream);
};
constexpr auto kVolumeWithAttributes = [](auto real, void *caller, auto *copy, unsigned long long flags, auto stream) {
  const auto as_given = [&] { return real(copy, flags, stream); };
  return copyVolumes<kCuda, kElementBytes>(as_given, caller, copy, 1, stream);
};

} // namespace

#define MSL_PART_BATCHES
#include "msleaks/abi/functions/cuda.def"
