#include "analysis/places/driver_library.h"

#include "analysis/base/text.h"
#include "msleaks/abi/library_name.h"

#include <algorithm>

namespace msleaks::analysis::inline places {

namespace {

// Names of libraries. The names of a family of libraries begin with the text before '*'.
constexpr std::string_view kNames[] = {
    // CUDA
    "libcuda", "libcudart", "libcublas", "libcublasLt", "libcudnn*", "libcufft", "libcufftw", "libcurand",
    "libcusolver", "libcusolverMg", "libcusparse", "libcusparseLt", "libcufile", "libcupti", "libnccl", "libnvidia-*",
    "libnvrtc*", "libnvJitLink", "libnvptxcompiler", "libnvshmem*", "libnvinfer*",
    // ROCm
    "libamdhip64", "libhsa-runtime64", "libhiprtc*", "libamd_comgr", "libhipblas*", "librocblas", "libhipfft",
    "librocfft", "libhiprand", "librocrand", "libhipsolver", "librocsolver", "libhipsparse*", "librocsparse",
    "libMIOpen", "librccl",
    // Ascend CANN
    "libascendcl", "libascend_hal", "libacl_rt_impl", "libopapi*", "libhccl*", "libge_runner", "libge_executor",
    // OpenCL and Level Zero
    "libOpenCL", "libpocl*", "libigdrcl", "libze_loader", "libze_intel_gpu"};

bool isNamed(std::string_view file, std::string_view name) {
  if (name.ends_with('*'))
    return file.starts_with(name.substr(0, name.size() - 1));
  return file.starts_with(name) && (file.size() == name.size() || !abi::isPartOfLibraryName(file[name.size()]));
}

} // namespace

bool isDriverLibrary(std::string_view path) {
  const std::string_view file = baseName(path);
  return file.starts_with("lib") &&
         std::any_of(std::begin(kNames), std::end(kNames), [&](std::string_view name) { return isNamed(file, name); });
}

} // namespace msleaks::analysis::inline places
