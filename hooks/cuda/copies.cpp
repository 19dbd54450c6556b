// Hooks of CUDA's copies and fills that a row of symbols.def cannot describe (devices/copies.h). A program that was
// built with one default stream per thread calls the functions whose names end in _ptds or _ptsz.
#include "devices/copies.h"
#include "cuda/types.h"
#include "devices/forms.h"

using namespace msleaks::hooks;

namespace {
constexpr auto kCuda = msleaks::abi::Family::Cuda;
MSL_ASKED(array_information, "libcudart", "cudaArrayGetInfo")
constexpr auto kCopyParms = kCopy3D<kCuda, array_information, cudaChannelFormatDesc>;
constexpr MemoryTypes kTypes = {.host = 1, .array = 3};
constexpr auto kDriverCopy = [](auto real, void *caller, const auto *copy, auto... stream) {
  const auto as_given = [&] { return real(copy, stream...); };
  return copy != nullptr ? copyDescribed<kCuda>(as_given, caller, kTypes, *copy, stream...) : as_given();
};
} // namespace

MSL_HOOK_FORMS_WITH(kCopy2D<kCuda>, _ptds, libcudart, cudaError_t, cudaMemcpy2D,
                    (void *, size_t, const void *, size_t, size_t, size_t, cudaMemcpyKind))
MSL_HOOK_FORMS_WITH(kCopy2D<kCuda>, _ptsz, libcudart, cudaError_t, cudaMemcpy2DAsync,
                    (void *, size_t, const void *, size_t, size_t, size_t, cudaMemcpyKind, cudaStream_t))
MSL_HOOK_FORMS_WITH(kCopyParms, _ptds, libcudart, cudaError_t, cudaMemcpy3D, (const cudaMemcpy3DParms *))
MSL_HOOK_FORMS_WITH(kCopyParms, _ptsz, libcudart, cudaError_t, cudaMemcpy3DAsync,
                    (const cudaMemcpy3DParms *, cudaStream_t))
MSL_HOOK_FORMS_WITH(kCopyParms, _ptds, libcudart, cudaError_t, cudaMemcpy3DPeer, (const cudaMemcpy3DPeerParms *))
MSL_HOOK_FORMS_WITH(kCopyParms, _ptsz, libcudart, cudaError_t, cudaMemcpy3DPeerAsync,
                    (const cudaMemcpy3DPeerParms *, cudaStream_t))
MSL_HOOK_FORMS_WITH(kFill2D<kCuda>, _ptds, libcudart, cudaError_t, cudaMemset2D, (void *, size_t, int, size_t, size_t))
MSL_HOOK_FORMS_WITH(kFill2D<kCuda>, _ptsz, libcudart, cudaError_t, cudaMemset2DAsync,
                    (void *, size_t, int, size_t, size_t, cudaStream_t))
MSL_HOOK_FORMS_WITH(kFill3D<kCuda>, _ptds, libcudart, cudaError_t, cudaMemset3D, (cudaPitchedPtr, int, cudaExtent))
MSL_HOOK_FORMS_WITH(kFill3D<kCuda>, _ptsz, libcudart, cudaError_t, cudaMemset3DAsync,
                    (cudaPitchedPtr, int, cudaExtent, cudaStream_t))

MSL_HOOK_FORMS_WITH(kDriverCopy, _ptds, libcuda, CUresult, cuMemcpy2D_v2, (const CUDA_MEMCPY2D *))
MSL_HOOK_FORMS_WITH(kDriverCopy, _ptds, libcuda, CUresult, cuMemcpy2DUnaligned_v2, (const CUDA_MEMCPY2D *))
MSL_HOOK_FORMS_WITH(kDriverCopy, _ptsz, libcuda, CUresult, cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D *, CUstream))
MSL_HOOK_FORMS_WITH(kDriverCopy, _ptds, libcuda, CUresult, cuMemcpy3D_v2, (const CUDA_MEMCPY3D *))
MSL_HOOK_FORMS_WITH(kDriverCopy, _ptsz, libcuda, CUresult, cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D *, CUstream))
MSL_HOOK_FORMS_WITH(kDriverCopy, _ptds, libcuda, CUresult, cuMemcpy3DPeer, (const CUDA_MEMCPY3D_PEER *))
MSL_HOOK_FORMS_WITH(kDriverCopy, _ptsz, libcuda, CUresult, cuMemcpy3DPeerAsync, (const CUDA_MEMCPY3D_PEER *, CUstream))
MSL_HOOK_FORMS_WITH(kFillNumbers<kCuda>, _ptds, libcuda, CUresult, cuMemsetD16_v2,
                    (CUdeviceptr, unsigned short, size_t))
MSL_HOOK_FORMS_WITH(kFillNumbers<kCuda>, _ptsz, libcuda, CUresult, cuMemsetD16Async,
                    (CUdeviceptr, unsigned short, size_t, CUstream))
MSL_HOOK_FORMS_WITH(kFillNumbers<kCuda>, _ptds, libcuda, CUresult, cuMemsetD32_v2, (CUdeviceptr, unsigned, size_t))
MSL_HOOK_FORMS_WITH(kFillNumbers<kCuda>, _ptsz, libcuda, CUresult, cuMemsetD32Async,
                    (CUdeviceptr, unsigned, size_t, CUstream))
MSL_HOOK_FORMS_WITH(kFillNumbers2D<kCuda>, _ptds, libcuda, CUresult, cuMemsetD2D8_v2,
                    (CUdeviceptr, size_t, unsigned char, size_t, size_t))
MSL_HOOK_FORMS_WITH(kFillNumbers2D<kCuda>, _ptsz, libcuda, CUresult, cuMemsetD2D8Async,
                    (CUdeviceptr, size_t, unsigned char, size_t, size_t, CUstream))
MSL_HOOK_FORMS_WITH(kFillNumbers2D<kCuda>, _ptds, libcuda, CUresult, cuMemsetD2D16_v2,
                    (CUdeviceptr, size_t, unsigned short, size_t, size_t))
MSL_HOOK_FORMS_WITH(kFillNumbers2D<kCuda>, _ptsz, libcuda, CUresult, cuMemsetD2D16Async,
                    (CUdeviceptr, size_t, unsigned short, size_t, size_t, CUstream))
MSL_HOOK_FORMS_WITH(kFillNumbers2D<kCuda>, _ptds, libcuda, CUresult, cuMemsetD2D32_v2,
                    (CUdeviceptr, size_t, unsigned, size_t, size_t))
MSL_HOOK_FORMS_WITH(kFillNumbers2D<kCuda>, _ptsz, libcuda, CUresult, cuMemsetD2D32Async,
                    (CUdeviceptr, size_t, unsigned, size_t, size_t, CUstream))
