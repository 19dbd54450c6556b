// Declares the part of Ascend CANN's API that the tests call: ACL, and the runtime below it.
#pragma once
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef int aclError;
typedef void *aclrtStream;
typedef void *aclrtFuncHandle;

aclError aclrtMalloc(void **block, size_t size, int policy);
aclError aclrtMallocAlign32(void **block, size_t size, int policy);
aclError aclrtMallocCached(void **block, size_t size, int policy);
aclError aclrtMallocWithCfg(void **block, size_t size, int policy, void *config);
aclError aclrtMallocHost(void **block, size_t size);
aclError aclrtFree(void *block);
aclError aclrtFreeHost(void *block);
aclError aclrtHostRegister(void *block, uint64_t size, int type, void **device);
aclError aclrtHostRegisterV2(void *block, uint64_t size, uint32_t flags);
aclError aclrtHostUnregister(void *block);
aclError aclrtLaunchKernel(aclrtFuncHandle kernel, uint32_t blocks, const void *arguments, size_t size,
                           aclrtStream stream);
aclError aclrtLaunchKernelV2(aclrtFuncHandle kernel, uint32_t blocks, const void *arguments, size_t size, void *config,
                             aclrtStream stream);
aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle kernel, uint32_t blocks, aclrtStream stream, void *config,
                                     void *arguments, void *reserved);
aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle kernel, uint32_t blocks, aclrtStream stream, void *config,
                                       void *arguments, size_t size, void *holders, size_t holder_count);
aclError aclrtMemcpy(void *to, size_t capacity, const void *from, size_t size, int kind);
aclError aclrtMemcpyAsync(void *to, size_t capacity, const void *from, size_t size, int kind, aclrtStream stream);
aclError aclrtMemset(void *to, size_t capacity, int32_t value, size_t size);
aclError aclrtMemsetAsync(void *to, size_t capacity, int32_t value, size_t size, aclrtStream stream);

aclError aclrtMallocHostWithCfg(void **block, uint64_t size, void *config);
aclError aclrtMallocForTaskScheduler(void **block, size_t size, int policy, void *config);
aclError aclrtMemAllocManaged(void **block, uint64_t size, uint32_t flags);
aclError aclrtMemPoolMallocAsync(void **block, size_t size, void *pool, aclrtStream stream);
aclError aclrtFreeWithDevSync(void *block);
aclError aclrtFreeHostWithDevSync(void *block);
aclError aclrtMemPoolFreeAsync(void *block, aclrtStream stream);
aclError aclrtLaunchKernelWithArgsArray(void *kernel, uint32_t blocks, aclrtStream stream, void *config,
                                        void **arguments);
aclError aclrtMemcpyAsyncWithCondition(void *to, size_t capacity, const void *from, size_t size, int kind,
                                       aclrtStream stream);
aclError aclrtMemcpyToSymbol(const void *symbol, const void *from, size_t size, size_t offset, int kind);
aclError aclrtMemcpyToSymbolAsync(const void *symbol, const void *from, size_t size, size_t offset, int kind,
                                  aclrtStream stream);
aclError aclrtMemcpyFromSymbol(void *to, size_t capacity, const void *symbol, size_t size, size_t offset, int kind);
aclError aclrtMemcpyFromSymbolAsync(void *to, size_t capacity, const void *symbol, size_t size, size_t offset, int kind,
                                    aclrtStream stream);

typedef int rtError_t;
typedef void *rtStream_t;
rtError_t rtKernelLaunch(const void *stub, uint32_t blocks, void *arguments, uint32_t size, void *sm,
                         rtStream_t stream);
rtError_t rtKernelLaunchWithFlag(const void *stub, uint32_t blocks, void *arguments, void *sm, rtStream_t stream,
                                 uint32_t flags);
rtError_t rtKernelLaunchWithFlagV2(const void *stub, uint32_t blocks, void *arguments, void *sm, rtStream_t stream,
                                   uint32_t flags, const void *config);
rtError_t rtKernelLaunchWithHandle(void *handle, uint64_t key, uint32_t blocks, void *arguments, void *sm,
                                   rtStream_t stream, const void *kernel);
rtError_t rtKernelLaunchWithHandleV2(void *handle, uint64_t key, uint32_t blocks, void *arguments, void *sm,
                                     rtStream_t stream, const void *config);
rtError_t rtVectorCoreKernelLaunch(const void *stub, uint32_t blocks, void *arguments, void *sm, rtStream_t stream,
                                   uint32_t flags, const void *config);
rtError_t rtVectorCoreKernelLaunchWithHandle(void *handle, uint64_t key, uint32_t blocks, void *arguments, void *sm,
                                             rtStream_t stream, const void *config);
rtError_t rtLaunchKernelByFuncHandle(void *function, uint32_t blocks, void *arguments, rtStream_t stream);
rtError_t rtLaunchKernelByFuncHandleV2(void *function, uint32_t blocks, void *arguments, rtStream_t stream,
                                       const void *config);
rtError_t rtLaunchKernelByFuncHandleV3(void *function, uint32_t blocks, const void *arguments, rtStream_t stream,
                                       const void *config);
rtError_t rtsLaunchKernelWithConfig(void *function, uint32_t blocks, rtStream_t stream, void *config, void *arguments,
                                    void *reserved);
rtError_t rtsLaunchKernelWithDevArgs(void *function, uint32_t blocks, rtStream_t stream, void *config,
                                     const void *arguments, uint32_t size, void *reserved);
rtError_t rtsLaunchKernelWithHostArgs(void *function, uint32_t blocks, rtStream_t stream, void *config, void *arguments,
                                      uint32_t size, void *holders, uint32_t holder_count);
#ifdef __cplusplus
}
#endif
