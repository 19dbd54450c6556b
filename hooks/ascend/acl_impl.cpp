// Hooks of the functions behind Ascend's ACL. From CANN 8 on, each function of libascendcl calls a function with the
// same name and the ending "Impl". Other libraries call the Impl functions directly. An Impl function is recorded
// according to the row of the function without "Impl". If one of these functions runs inside another one, only the
// outer call is recorded.
#include "ascend/copy_batch.h"

#include "msleaks/hook.h"

#include <cstddef>
#include <cstdint>

using Stream = void *;
using Handle = void *;
using Config = void *;

// The library that defines these functions differs between versions of CANN.
// clang-format off
#define MSL_BELOW_ACL libacl_rt_impl|libascendcl_impl|libacl_rt|libascendcl
// clang-format on
#define MSL_IMPL_HOOK(name, parameters)                                                                                \
  MSL_HOOK_AS(::msleaks::hook::Known<#name>, MSL_BELOW_ACL, int, name##Impl, parameters)
#define MSL_IMPL_COPY_2D(name, parameters)                                                                             \
  MSL_HOOK_WITH(::msleaks::hooks::kCopy2D<::msleaks::abi::Family::Acl>, MSL_BELOW_ACL, int, name##Impl, parameters)
#define MSL_IMPL_COPY_BATCH(name, parameters)                                                                          \
  MSL_HOOK_WITH(::msleaks::hooks::kCopyBatch, MSL_BELOW_ACL, int, name##Impl, parameters)

MSL_IMPL_HOOK(aclrtSetDevice, (int32_t))

MSL_IMPL_HOOK(aclrtMalloc, (void **, size_t, int))
MSL_IMPL_HOOK(aclrtMallocAlign32, (void **, size_t, int))
MSL_IMPL_HOOK(aclrtMallocCached, (void **, size_t, int))
MSL_IMPL_HOOK(aclrtMallocWithCfg, (void **, size_t, int, Config))
MSL_IMPL_HOOK(aclrtMallocHost, (void **, size_t))
MSL_IMPL_HOOK(aclrtFree, (void *))
MSL_IMPL_HOOK(aclrtFreeHost, (void *))

MSL_IMPL_HOOK(aclrtLaunchKernel, (Handle, uint32_t, const void *, size_t, Stream))
MSL_IMPL_HOOK(aclrtLaunchKernelV2, (Handle, uint32_t, const void *, size_t, Config, Stream))
MSL_IMPL_HOOK(aclrtLaunchKernelWithConfig, (Handle, uint32_t, Stream, Config, Handle, void *))
MSL_IMPL_HOOK(aclrtLaunchKernelWithHostArgs, (Handle, uint32_t, Stream, Config, void *, size_t, void *, size_t))

MSL_IMPL_HOOK(aclrtMemcpy, (void *, size_t, const void *, size_t, int))
MSL_IMPL_HOOK(aclrtMemcpyAsync, (void *, size_t, const void *, size_t, int, Stream))
MSL_IMPL_COPY_2D(aclrtMemcpy2d, (void *, size_t, const void *, size_t, size_t, size_t, int))
MSL_IMPL_COPY_2D(aclrtMemcpy2dAsync, (void *, size_t, const void *, size_t, size_t, size_t, int, Stream))
MSL_IMPL_COPY_BATCH(aclrtMemcpyBatch, MSL_COPY_BATCH())
MSL_IMPL_COPY_BATCH(aclrtMemcpyBatchAsync, MSL_COPY_BATCH(, Stream))
MSL_IMPL_HOOK(aclrtMemset, (void *, size_t, int32_t, size_t))
MSL_IMPL_HOOK(aclrtMemsetAsync, (void *, size_t, int32_t, size_t, Stream))
