// Hooks of Ascend CANN: of ACL, and of the runtime below it. A launch function of ACL calls one of the runtime. Only
// the outer call is recorded.
#include "ascend/copy_batch.h"
#include "core/own_hook.h"

#include "msleaks/api.h"

#include <cstddef>
#include <cstdint>

using aclError = int;
using Stream = void *;
using Handle = void *;
using Config = void *;

using namespace msleaks;

namespace {

// The driver has memory of its own from aclInit to aclFinalize. Both calls are recorded as marks.
constexpr auto kInit = [](auto real, void *, const char *configuration) {
  const aclError status = real(configuration);
  if (status == 0)
    msl_mark("aclInit");
  return status;
};

// The launch gets the address of the kernel's name instead of a handle. A later kernel's name may have the same
// address, so each launch reports its name. This row is not in symbols.def: otherwise the plugin would insert a
// callback before the name is known.
struct NamedLaunch {
  static constexpr abi::Symbol kRow = {.name = "rtAicpuKernelLaunchExWithArgs",
                                       .verb = abi::Verb::Launch,
                                       .family = abi::Family::Acl,
                                       .heap = abi::Heap::Device,
                                       .kernel = abi::Position(1),
                                       .stream = abi::Position(5),
                                       .shape = {abi::ShapeKind::Blocks, abi::Position(2)},
                                       .status = true};
};
constexpr auto kNamedLaunch = [](auto real, void *caller, uint32_t type, const char *name, auto... more) {
  constexpr abi::Symbol kRow = NamedLaunch::kRow;
  if (__msl_hook_kernel != nullptr)
    __msl_hook_kernel(abi::Traits(kRow.verb, kRow.family, kRow.heap, 0).packed(), name, name);
  return hook::callRecorded<NamedLaunch>(real, caller, type, name, more...);
};

} // namespace

MSL_HOOK_WITH(kInit, libascendcl, aclError, aclInit, (const char *))
MSL_OWN_HOOK(libascendcl, aclError, aclFinalize, ()) {
  msl_mark("aclFinalize");
  return MSL_REAL(aclError, aclFinalize);
}

MSL_HOOK(libascendcl, aclError, aclrtSetDevice, (int32_t))

MSL_HOOK(libascendcl, aclError, aclrtMalloc, (void **, size_t, int))
MSL_HOOK(libascendcl, aclError, aclrtMallocAlign32, (void **, size_t, int))
MSL_HOOK(libascendcl, aclError, aclrtMallocCached, (void **, size_t, int))
MSL_HOOK(libascendcl, aclError, aclrtMallocWithCfg, (void **, size_t, int, Config))
MSL_HOOK(libascendcl, aclError, aclrtMallocHost, (void **, size_t))
MSL_HOOK(libascendcl, aclError, aclrtFree, (void *))
MSL_HOOK(libascendcl, aclError, aclrtFreeHost, (void *))
MSL_HOOK(libascendcl, aclError, aclrtHostRegister, (void *, uint64_t, int, void **))
MSL_HOOK(libascendcl, aclError, aclrtHostRegisterV2, (void *, uint64_t, uint32_t))
MSL_HOOK(libascendcl, aclError, aclrtHostUnregister, (void *))

MSL_HOOK(libascendcl, aclError, aclrtLaunchKernel, (Handle, uint32_t, const void *, size_t, Stream))
MSL_HOOK(libascendcl, aclError, aclrtLaunchKernelV2, (Handle, uint32_t, const void *, size_t, Config, Stream))
MSL_HOOK(libascendcl, aclError, aclrtLaunchKernelWithConfig, (Handle, uint32_t, Stream, Config, Handle, void *))
MSL_HOOK(libascendcl, aclError, aclrtLaunchKernelWithHostArgs,
         (Handle, uint32_t, Stream, Config, void *, size_t, void *, size_t))

MSL_HOOK(libascendcl, aclError, aclrtMemcpy, (void *, size_t, const void *, size_t, int))
MSL_HOOK(libascendcl, aclError, aclrtMemcpyAsync, (void *, size_t, const void *, size_t, int, Stream))
MSL_HOOK_WITH(hooks::kCopy2D<abi::Family::Acl>, libascendcl, aclError, aclrtMemcpy2d,
              (void *, size_t, const void *, size_t, size_t, size_t, int))
MSL_HOOK_WITH(hooks::kCopy2D<abi::Family::Acl>, libascendcl, aclError, aclrtMemcpy2dAsync,
              (void *, size_t, const void *, size_t, size_t, size_t, int, Stream))
MSL_HOOK_WITH(hooks::kCopyBatch, libascendcl, aclError, aclrtMemcpyBatch, MSL_COPY_BATCH())
MSL_HOOK_WITH(hooks::kCopyBatch, libascendcl, aclError, aclrtMemcpyBatchAsync, MSL_COPY_BATCH(, Stream))
MSL_HOOK(libascendcl, aclError, aclrtMemset, (void *, size_t, int32_t, size_t))
MSL_HOOK(libascendcl, aclError, aclrtMemsetAsync, (void *, size_t, int32_t, size_t, Stream))

MSL_HOOK(libruntime, int, rtKernelLaunch, (const void *, uint32_t, void *, uint32_t, void *, Stream))
MSL_HOOK(libruntime, int, rtKernelLaunchWithFlag, (const void *, uint32_t, void *, void *, Stream, uint32_t))
MSL_HOOK(libruntime, int, rtKernelLaunchWithFlagV2,
         (const void *, uint32_t, void *, void *, Stream, uint32_t, const void *))
MSL_HOOK(libruntime, int, rtKernelLaunchWithHandle, (Handle, uint64_t, uint32_t, void *, void *, Stream, const void *))
MSL_HOOK(libruntime, int, rtKernelLaunchWithHandleV2,
         (Handle, uint64_t, uint32_t, void *, void *, Stream, const void *))
MSL_HOOK(libruntime, int, rtVectorCoreKernelLaunch,
         (const void *, uint32_t, void *, void *, Stream, uint32_t, const void *))
MSL_HOOK(libruntime, int, rtVectorCoreKernelLaunchWithHandle,
         (Handle, uint64_t, uint32_t, void *, void *, Stream, const void *))
MSL_HOOK(libruntime, int, rtLaunchKernelByFuncHandle, (Handle, uint32_t, Handle, Stream))
MSL_HOOK(libruntime, int, rtLaunchKernelByFuncHandleV2, (Handle, uint32_t, Handle, Stream, const void *))
MSL_HOOK(libruntime, int, rtLaunchKernelByFuncHandleV3, (Handle, uint32_t, const void *, Stream, const void *))
MSL_HOOK(libruntime, int, rtsLaunchKernelWithConfig, (Handle, uint32_t, Stream, Config, Handle, void *))
MSL_HOOK(libruntime, int, rtsLaunchKernelWithDevArgs,
         (Handle, uint32_t, Stream, Config, const void *, uint32_t, void *))
MSL_HOOK(libruntime, int, rtsLaunchKernelWithHostArgs,
         (Handle, uint32_t, Stream, Config, void *, uint32_t, void *, uint32_t))
MSL_HOOK_WITH(kNamedLaunch, libruntime, int, rtAicpuKernelLaunchExWithArgs,
              (uint32_t, const char *, uint32_t, const void *, void *, Stream, uint32_t))
