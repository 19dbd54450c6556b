// Hooks of CUDA's driver for kernels that have counted copies (counting/module_kernels.h). CUDA's runtime library
// launches its kernels by the same functions of the driver.
#include "core/rows.h"
#include "counting/module_hooks.h"
#include "cuda/rows.h"
#include "devices/resets.h"

#ifdef MSL_VENDOR_HEADERS
static_assert(offsetof(CUlaunchConfig, blockDimX) == offsetof(msleaks::abi::LaunchConfig, block));
static_assert(offsetof(CUlaunchConfig, sharedMemBytes) == offsetof(msleaks::abi::LaunchConfig, shared_bytes));
static_assert(offsetof(CUlaunchConfig, hStream) == offsetof(msleaks::abi::LaunchConfig, stream));
static_assert(offsetof(CUlaunchConfig, attrs) == offsetof(msleaks::hooks::AttributedConfig, attributes));
static_assert(offsetof(CUlaunchConfig, numAttrs) == offsetof(msleaks::hooks::AttributedConfig, attribute_count));
static_assert(sizeof(CUlaunchAttribute) == sizeof(msleaks::hooks::LaunchAttribute));
static_assert(CU_LAUNCH_ATTRIBUTE_COOPERATIVE == 2);
#endif

using namespace msleaks;
using namespace msleaks::hooks;

namespace {

MSL_ASKED(allocate, "libcuda", "cuMemAlloc_v2")
MSL_ASKED(write, "libcuda", "cuMemcpyHtoDAsync_v2")
MSL_ASKED(read, "libcuda", "cuMemcpyDtoHAsync_v2")
MSL_ASKED(make_stream, "libcuda", "cuStreamCreate")
MSL_ASKED(drop_stream, "libcuda", "cuStreamDestroy_v2")
MSL_ASKED(wait, "libcuda", "cuStreamSynchronize")
MSL_ASKED(make_event, "libcuda", "cuEventCreate")
MSL_ASKED(record_event, "libcuda", "cuEventRecord")
MSL_ASKED(query, "libcuda", "cuEventQuery")
MSL_ASKED(is_capturing, "libcuda", "cuStreamIsCapturing")
MSL_ASKED(exchange_mode, "libcuda", "cuThreadExchangeStreamCaptureMode")
MSL_ASKED(current, "libcuda", "cuCtxGetCurrent")
MSL_ASKED(set_current, "libcuda", "cuCtxSetCurrent")
MSL_ASKED(module_kernel, "libcuda", "cuModuleGetFunction")
MSL_ASKED(module_constant, "libcuda", "cuModuleGetGlobal_v2")
MSL_ASKED(library_kernel, "libcuda", "cuLibraryGetKernel")
MSL_ASKED(library_constant, "libcuda", "cuLibraryGetGlobal")
MSL_ASKED(kernel_function, "libcuda", "cuKernelGetFunction")
MSL_ASKED(context_state, "libcuda", "cuDevicePrimaryCtxGetState")

Handle place() {
  Handle context = nullptr;
  callReal<int(Handle *)>(current, &context);
  return context;
}
void enter(Handle context) { callReal<int(Handle)>(set_current, context); }

constexpr ModuleApi kApi = {&allocate,      &write,      &read,         &make_stream, &drop_stream,
                            &wait,          &make_event, &record_event, &query,       &is_capturing,
                            &exchange_mode, nullptr,     &place,        &enter,       abi::Family::Cuda};
constexpr KernelSource kModule = {&kApi, &module_kernel, &module_constant};
constexpr KernelSource kLibrary = {&kApi, &library_kernel, &library_constant};

Handle functionOf(Handle kernel) {
  Handle function = nullptr;
  return callReal<int(Handle *, Handle)>(kernel_function, &function, kernel) == 0 ? function : nullptr;
}

constexpr auto kKernelFunction = [](auto real, void *, CUfunction *function, CUkernel kernel) {
  const CUresult status = real(function, kernel);
  if (status == CUresult(0))
    kernelNamed(kernel, *function, functionOf);
  return status;
};

// cuFuncSetAttribute and other functions that change a setting of a kernel.
constexpr auto kFunctionSet = [](auto real, void *, auto function, auto... how) {
  return forBoth(kApi, function, [&](auto one) { return real(one, how...); });
};
constexpr auto kKernelSet = [](auto real, void *, CUfunction_attribute what, int value, CUkernel kernel,
                               CUdevice device) {
  return forBoth(kApi, kernel, [&](CUkernel one) { return real(what, value, one, device); });
};

// Only the driver knows which context this is.
constexpr auto kReset = [](auto real, void *caller, CUdevice device) {
  placeGoes(nullptr);
  return kResetOf<abi::Family::Cuda>(real, caller, device);
};
// The last release of a primary context resets the device.
bool isActive(CUdevice device) {
  unsigned flags = 0;
  int active = 1;
  callReal<int(CUdevice, unsigned *, int *)>(context_state, device, &flags, &active);
  return active != 0;
}
constexpr auto kReleased = [](auto real, void *caller, CUdevice device) {
  placeGoes(nullptr);
  const CUresult status = real(device);
  if (status == CUresult(0) && !isActive(device))
    kResetOf<abi::Family::Cuda>([](CUdevice) { return 0; }, caller, device);
  return status;
};

} // namespace

#define MSL_PART_KERNELS
#include "msleaks/abi/functions/cuda.def"
