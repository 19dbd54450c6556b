// Hooks of HIP for kernels of modules that have counted copies (counting/module_kernels.h).
#include "core/own_hook.h"
#include "counting/module_hooks.h"
#include "devices/resets.h"
#include "devices/rows.h"
#include "hip/ask.h"
#include "hip/types.h"

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

// hipDeviceReset resets the calling thread's device.
constexpr auto kReset = [](auto real, void *caller) {
  placeGoes(place());
  return resetRecorded<abi::Family::Hip>(real, caller);
};

} // namespace

constinit const KernelSource hooks::kHipRegistered = {&kApi, nullptr, &module_constant, &load_module, &unload_module};

MSL_HOOK_WITH(kNamedKernelOf<kModule>, libamdhip64, hipError_t, hipModuleGetFunction,
              (hipFunction_t *, hipModule_t, const char *))
MSL_HOOK_NAMED(kUnload, libamdhip64, hipError_t, hipModuleUnload, (hipModule_t))
MSL_HOOK_NAMED(kLaunch, libamdhip64, hipError_t, hipModuleLaunchKernel,
               (hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, hipStream_t,
                void **, void **))
MSL_HOOK_NAMED(kLaunchThreads, libamdhip64, hipError_t, hipExtModuleLaunchKernel,
               (hipFunction_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, size_t, hipStream_t, void **,
                void **, hipEvent_t, hipEvent_t, uint32_t))
MSL_HOOK_NAMED(kLaunchThreads, libamdhip64, hipError_t, hipHccModuleLaunchKernel,
               (hipFunction_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, size_t, hipStream_t, void **,
                void **, hipEvent_t, hipEvent_t))
MSL_HOOK_NAMED(kLaunchConfigured, libamdhip64, hipError_t, hipDrvLaunchKernelEx,
               (const HIP_LAUNCH_CONFIG *, hipFunction_t, void **, void **))
MSL_HOOK_WITH(kWaited, libamdhip64, hipError_t, hipStreamSynchronize, (hipStream_t))
MSL_HOOK_WITH(kWaited, libamdhip64, hipError_t, hipEventSynchronize, (hipEvent_t))
MSL_OWN_HOOK_WITH(kWaited, libamdhip64, hipError_t, hipDeviceSynchronize)
MSL_OWN_HOOK_WITH(kReset, libamdhip64, hipError_t, hipDeviceReset)
