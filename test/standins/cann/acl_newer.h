// Declares functions that ACL has since CANN 8.3 (ascendcl_newer.cpp).
#pragma once
#include "acl.h"
#ifdef __cplusplus
extern "C" {
#endif
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
aclError aclrtMemcpyAsyncWithOffset(void **to, size_t capacity, size_t to_offset, const void **from, size_t size,
                                    size_t from_offset, int kind, aclrtStream stream);
aclError aclrtReduceAsync(void *to, const void *from, uint64_t count, int kind, int type, aclrtStream stream,
                          void *reserved);
aclError aclrtValueWrite(void *address, uint64_t value, uint32_t flags, aclrtStream stream);
aclError aclrtValueWait(void *address, uint64_t value, uint32_t flags, aclrtStream stream);
aclError aclrtMemGetAddressRange(void *address, void **begin, size_t *size);
aclError aclrtIpcMemImportByKey(void **block, const char *key, uint64_t flags);
aclError aclrtIpcMemClose(const char *key);
aclError aclrtMemcpyAsyncWithDesc(void *description, int kind, aclrtStream stream);
aclError aclrtMemcpyBatchV2(void **to, size_t *most, void **from, size_t *bytes, size_t count, void *attributes,
                            size_t *indices, size_t attribute_count);
aclError aclrtMemcpyBatchAsyncV2(void **to, size_t *most, void **from, size_t *bytes, size_t count, void *attributes,
                                 size_t *indices, size_t attribute_count, aclrtStream stream);
aclError aclrtMemsetD32(void *to, size_t capacity, uint32_t value, size_t count);
aclError aclrtMemsetD32Async(void *to, size_t capacity, uint32_t value, size_t count, aclrtStream stream);
aclError aclrtCreateContext(void **context, int32_t device);
aclError aclrtSetCurrentContext(void *context);
aclError aclrtDestroyContext(void *context);
aclError aclrtCreateStreamV2(aclrtStream *stream, const void *configuration);
aclError aclrtBinaryLoad(void *binary, void **handle);
aclError aclrtBinaryLoadFromData(const void *data, size_t bytes, const void *options, void **handle);
aclError aclrtBinaryLoadFromFile(const char *path, void *options, void **handle);
aclError aclrtBinaryUnLoad(void *handle);
aclError aclmdlRICaptureEnd(aclrtStream stream, void **model);
aclError aclmdlRIBuildBegin(void **model, uint32_t flags);
aclError aclmdlRIDestroy(void *model);
aclError aclmdlRIExecute(void *model, int32_t timeout);
aclError aclmdlRIExecuteAsync(void *model, aclrtStream stream);
#ifdef __cplusplus
}
#endif
