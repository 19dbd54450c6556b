// What is below ACL's face has these names.
#pragma once
#define aclrtSetDevice aclrtSetDeviceImpl
#define aclrtMalloc aclrtMallocImpl
#define aclrtMallocHost aclrtMallocHostImpl
#define aclrtFree aclrtFreeImpl
#define aclrtFreeHost aclrtFreeHostImpl
#define aclrtMemcpy aclrtMemcpyImpl
#define aclrtMemset aclrtMemsetImpl
#define aclrtLaunchKernel aclrtLaunchKernelImpl
#define aclrtLaunchKernelV2 aclrtLaunchKernelV2Impl
#define aclrtLaunchKernelWithConfig aclrtLaunchKernelWithConfigImpl
#define aclrtLaunchKernelWithHostArgs aclrtLaunchKernelWithHostArgsImpl
