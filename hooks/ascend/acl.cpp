// Hooks of Ascend CANN: of ACL, of the functions behind it, and of the runtime below it. From CANN 8 on, each function
// of libascendcl calls a function with the same name and the ending "Impl". Other libraries call the Impl functions
// directly. If one of these functions runs inside another one, only the outer call is recorded.
#include "core/own_hook.h"
#include "devices/batches.h"

#include "msleaks/api.h"

#include <cstddef>
#include <cstdint>

using aclError = int;
using Stream = void *;
using Handle = void *;
using Config = void *;

using namespace msleaks;
using namespace msleaks::hooks;

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

// Several copies in one call. Each destination has an upper limit.
constexpr auto kCopyBatch = [](auto real, void *caller, void **to, size_t *most, void **from, size_t *bytes,
                               size_t count, void *attributes, size_t *indices, size_t attribute_count, size_t *failed,
                               auto... stream) {
  const auto as_given = [&] {
    return real(to, most, from, bytes, count, attributes, indices, attribute_count, failed, stream...);
  };
  return copyLists<abi::Family::Acl>(as_given, caller, to, from, bytes, count, stream...);
};

} // namespace

MSL_HOOK_WITH(kInit, libascendcl, aclError, aclInit, (const char *))
MSL_OWN_HOOK(libascendcl, aclError, aclFinalize, ()) {
  msl_mark("aclFinalize");
  return MSL_REAL(aclError, aclFinalize);
}

// Defines the hooks of a function of ACL and of the Impl function behind it. Both are recorded by the same row. The
// library that defines the Impl functions differs between versions of CANN.
// clang-format off
#define MSL_BEHIND_ACL libacl_rt_impl|libascendcl_impl|libacl_rt|libascendcl
// clang-format on
#define MSL_ACL(name, parameters)                                                                                      \
  MSL_HOOK(libascendcl, aclError, name, parameters)                                                                    \
  MSL_HOOK_AS(hook::Known<#name>, MSL_BEHIND_ACL, aclError, name##Impl, parameters)
#define MSL_ACL_WITH(body, name, parameters)                                                                           \
  MSL_HOOK_WITH(body, libascendcl, aclError, name, parameters)                                                         \
  MSL_HOOK_WITH(body, MSL_BEHIND_ACL, aclError, name##Impl, parameters)

MSL_ACL(aclrtSetDevice, (int32_t))

MSL_ACL(aclrtMalloc, (void **, size_t, int))
MSL_ACL(aclrtMallocAlign32, (void **, size_t, int))
MSL_ACL(aclrtMallocCached, (void **, size_t, int))
MSL_ACL(aclrtMallocWithCfg, (void **, size_t, int, Config))
MSL_ACL(aclrtMallocHost, (void **, size_t))
MSL_ACL(aclrtFree, (void *))
MSL_ACL(aclrtFreeHost, (void *))

MSL_ACL(aclrtLaunchKernel, (Handle, uint32_t, const void *, size_t, Stream))
MSL_ACL(aclrtLaunchKernelV2, (Handle, uint32_t, const void *, size_t, Config, Stream))
MSL_ACL(aclrtLaunchKernelWithConfig, (Handle, uint32_t, Stream, Config, Handle, void *))
MSL_ACL(aclrtLaunchKernelWithHostArgs, (Handle, uint32_t, Stream, Config, void *, size_t, void *, size_t))

MSL_ACL(aclrtMemcpy, (void *, size_t, const void *, size_t, int))
MSL_ACL(aclrtMemcpyAsync, (void *, size_t, const void *, size_t, int, Stream))
MSL_ACL_WITH(kCopy2D<abi::Family::Acl>, aclrtMemcpy2d, (void *, size_t, const void *, size_t, size_t, size_t, int))
MSL_ACL_WITH(kCopy2D<abi::Family::Acl>, aclrtMemcpy2dAsync,
             (void *, size_t, const void *, size_t, size_t, size_t, int, Stream))
MSL_ACL_WITH(kCopyBatch, aclrtMemcpyBatch,
             (void **, size_t *, void **, size_t *, size_t, void *, size_t *, size_t, size_t *))
MSL_ACL_WITH(kCopyBatch, aclrtMemcpyBatchAsync,
             (void **, size_t *, void **, size_t *, size_t, void *, size_t *, size_t, size_t *, Stream))
MSL_ACL(aclrtMemset, (void *, size_t, int32_t, size_t))
MSL_ACL(aclrtMemsetAsync, (void *, size_t, int32_t, size_t, Stream))

MSL_HOOK(libascendcl, aclError, aclrtHostRegister, (void *, uint64_t, int, void **))
MSL_HOOK(libascendcl, aclError, aclrtHostRegisterV2, (void *, uint64_t, uint32_t))
MSL_HOOK(libascendcl, aclError, aclrtHostUnregister, (void *))

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
