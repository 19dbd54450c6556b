// As much of Ascend CANN as the stand-in has: ACL, and what its own libraries call of the driver.
#pragma once
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef int aclError;
typedef void *aclrtStream;
typedef void *aclrtFuncHandle;
enum { ACL_SUCCESS = 0, ACL_ERROR_INVALID_PARAM = 100000, ACL_ERROR_BAD_ALLOC = 200000, ACL_ERROR_RT_DEVICE = 507000 };

aclError aclInit(const char *config);
aclError aclFinalize(void);
aclError aclrtSetDevice(int32_t device);
aclError aclrtGetMemInfo(int attribute, size_t *free, size_t *total);
aclError aclrtMalloc(void **block, size_t size, int policy);
aclError aclrtMallocHost(void **block, size_t size);
aclError aclrtFree(void *block);
aclError aclrtFreeHost(void *block);
aclError aclrtHostRegister(void *block, uint64_t size, int type, void **device);
aclError aclrtHostRegisterV2(void *block, uint64_t size, uint32_t flags);
aclError aclrtHostUnregister(void *block);
aclError aclrtGetVersion(int32_t *major, int32_t *minor, int32_t *patch);
aclError aclrtMemcpy(void *to, size_t capacity, const void *from, size_t size, int kind);
aclError aclrtMemset(void *to, size_t capacity, int32_t value, size_t size);
aclError aclrtCreateStream(aclrtStream *stream);
aclError aclrtDestroyStream(aclrtStream stream);
aclError aclrtSynchronizeStream(aclrtStream stream);
/* The handle is a function of the host here: void kernel(const void *arguments, size_t size). */
aclError aclrtLaunchKernel(aclrtFuncHandle kernel, uint32_t blocks, const void *arguments, size_t size,
                           aclrtStream stream);

/* What the runtime has below it. */
int rtKernelLaunch(const void *stub, uint32_t blocks, void *arguments, uint32_t size, void *sm, aclrtStream stream);

/* The driver. */
int halMemAlloc(void **block, unsigned long long size, unsigned long long flag);
int halMemFree(void *block);

/* A library of CANN's that takes memory from the driver itself, as the one for communication does. */
int hcclBuffer(int device, void **block, size_t size);

#ifdef __cplusplus
}
#endif
