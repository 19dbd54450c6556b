// Hooks of CUDA's copies and fills that a row of symbols.def cannot describe (devices/copy_rows.def).
#include "devices/copies.h"
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

#include "devices/copy_rows.def"

MSL_HOOK_FORMS_WITH(kDriverCopy, _ptds, libcuda, CUresult, cuMemcpy2D_v2, (const CUDA_MEMCPY2D *))
MSL_HOOK_FORMS_WITH(kDriverCopy, _ptds, libcuda, CUresult, cuMemcpy2DUnaligned_v2, (const CUDA_MEMCPY2D *))
MSL_HOOK_FORMS_WITH(kDriverCopy, _ptsz, libcuda, CUresult, cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D *, CUstream))
MSL_HOOK_FORMS_WITH(kDriverCopy, _ptds, libcuda, CUresult, cuMemcpy3D_v2, (const CUDA_MEMCPY3D *))
MSL_HOOK_FORMS_WITH(kDriverCopy, _ptsz, libcuda, CUresult, cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D *, CUstream))
MSL_HOOK_FORMS_WITH(kDriverCopy, _ptds, libcuda, CUresult, cuMemcpy3DPeer, (const CUDA_MEMCPY3D_PEER *))
MSL_HOOK_FORMS_WITH(kDriverCopy, _ptsz, libcuda, CUresult, cuMemcpy3DPeerAsync, (const CUDA_MEMCPY3D_PEER *, CUstream))
