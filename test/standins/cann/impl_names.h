// Renames the functions of ACL as in libacl_rt_impl.so, the library below ACL's interface.
#pragma once
#define aclrtSetDevice aclrtSetDeviceImpl
#define aclrtMalloc aclrtMallocImpl
#define aclrtMallocAlign32 aclrtMallocAlign32Impl
#define aclrtMallocCached aclrtMallocCachedImpl
#define aclrtMallocWithCfg aclrtMallocWithCfgImpl
#define aclrtMallocHost aclrtMallocHostImpl
#define aclrtFree aclrtFreeImpl
#define aclrtFreeHost aclrtFreeHostImpl
#define aclrtMemcpy aclrtMemcpyImpl
#define aclrtMemcpyAsync aclrtMemcpyAsyncImpl
#define aclrtMemcpy2d aclrtMemcpy2dImpl
#define aclrtMemcpy2dAsync aclrtMemcpy2dAsyncImpl
#define aclrtMemset aclrtMemsetImpl
#define aclrtMemsetAsync aclrtMemsetAsyncImpl
#define aclrtLaunchKernel aclrtLaunchKernelImpl
#define aclrtLaunchKernelV2 aclrtLaunchKernelV2Impl
#define aclrtLaunchKernelWithConfig aclrtLaunchKernelWithConfigImpl
#define aclrtLaunchKernelWithHostArgs aclrtLaunchKernelWithHostArgsImpl
