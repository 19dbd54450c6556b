// Hooks of HIP for kernels of modules that have counted copies (counting/module_kernels.h).
#include "core/rows.h"
#include "counting/module_hooks.h"
#include "devices/resets.h"
#include "hip/ask.h"
#include "hip/rows.h"

using namespace msleaks;
using namespace msleaks::hooks;

namespace {

MSL_ASKED(allocate, "libamdhip64", "hipMalloc")
MSL_ASKED(write, "libamdhip64", "hipMemcpyHtoDAsync")
MSL_ASKED(read, "libamdhip64", "hipMemcpyDtoHAsync")
MSL_ASKED(make_stream, "libamdhip64", "hipStreamCreateWithFlags")
MSL_ASKED(drop_stream, "libamdhip64", "hipStreamDestroy")
MSL_ASKED(wait, "libamdhip64", "hipStreamSynchronize")
MSL_ASKED(make_event, "libamdhip64", "hipEventCreateWithFlags")
MSL_ASKED(record_event, "libamdhip64", "hipEventRecord")
MSL_ASKED(query, "libamdhip64", "hipEventQuery")
MSL_ASKED(is_capturing, "libamdhip64", "hipStreamIsCapturing")
MSL_ASKED(exchange_mode, "libamdhip64", "hipThreadExchangeStreamCaptureMode")
MSL_ASKED(get_device, "libamdhip64", "hipGetDevice")
MSL_ASKED(set_device, "libamdhip64", "hipSetDevice")
MSL_ASKED(module_kernel, "libamdhip64", "hipModuleGetFunction")
MSL_ASKED(module_constant, "libamdhip64", "hipModuleGetGlobal")
MSL_ASKED(load_module, "libamdhip64", "hipModuleLoadData")
MSL_ASKED(unload_module, "libamdhip64", "hipModuleUnload")

// The number of the thread's device, plus 1: null means none.
Handle place() {
  int device = 0;
  return hip::ask<int(int *)>(get_device, &device) == 0 ? reinterpret_cast<Handle>(uintptr_t(device) + 1) : nullptr;
}
void enter(Handle device) {
  const auto number = static_cast<int>(reinterpret_cast<uintptr_t>(device)) - 1;
  if (device != nullptr)
    hip::ask<int(int)>(set_device, number);
}

constexpr ModuleApi kApi = {&allocate,      &write,      &read,         &make_stream, &drop_stream,
                            &wait,          &make_event, &record_event, &query,       &is_capturing,
                            &exchange_mode, &hip::kLast, &place,        &enter,       abi::Family::Hip};
constexpr KernelSource kModule = {&kApi, &module_kernel, &module_constant};

// No function returns a constant of a library. So a library's kernels have names, but are not counted.
constexpr auto kLibraryKernel = [](auto real, void *, hipKernel_t *kernel, hipLibrary_t library, const char *name) {
  const hipError_t status = real(kernel, library, name);
  if (status == hipError_t(0))
    tellName<abi::Family::Hip>(*kernel, name);
  return status;
};

// hipDeviceReset resets the calling thread's device.
constexpr auto kReset = [](auto real, void *caller) {
  placeGoes(place());
  return resetRecorded<abi::Family::Hip>(real, caller);
};

} // namespace

constinit const KernelSource hooks::kHipRegistered = {&kApi, nullptr, &module_constant, &load_module, &unload_module};

#define MSL_PART_KERNELS
#include "msleaks/abi/functions/hip.def"
