// Declares the part of Ascend CANN that the stand-in implements: ACL, and functions of the driver that ACL calls.
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
aclError aclrtGetDevice(int32_t *device);
aclError aclrtGetMemInfo(int attribute, size_t *free, size_t *total);
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
aclError aclrtGetVersion(int32_t *major, int32_t *minor, int32_t *patch);
aclError aclrtMemcpy(void *to, size_t capacity, const void *from, size_t size, int kind);
aclError aclrtMemcpyAsync(void *to, size_t capacity, const void *from, size_t size, int kind, aclrtStream stream);
aclError aclrtMemcpy2d(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                       int kind);
aclError aclrtMemcpy2dAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                            int kind, aclrtStream stream);
aclError aclrtMemcpyBatch(void **to, size_t *most, void **from, size_t *bytes, size_t count, void *attributes,
                          size_t *indices, size_t attribute_count, size_t *failed);
aclError aclrtMemcpyBatchAsync(void **to, size_t *most, void **from, size_t *bytes, size_t count, void *attributes,
                               size_t *indices, size_t attribute_count, size_t *failed, aclrtStream stream);
aclError aclrtMemset(void *to, size_t capacity, int32_t value, size_t size);
aclError aclrtMemsetAsync(void *to, size_t capacity, int32_t value, size_t size, aclrtStream stream);
aclError aclrtCreateStream(aclrtStream *stream);
aclError aclrtDestroyStream(aclrtStream stream);
aclError aclrtSynchronizeStream(aclrtStream stream);
/* In the stand-in, the handle is a function of the host: void kernel(const void *arguments, size_t size). */
aclError aclrtLaunchKernel(aclrtFuncHandle kernel, uint32_t blocks, const void *arguments, size_t size,
                           aclrtStream stream);
aclError aclrtLaunchKernelV2(aclrtFuncHandle kernel, uint32_t blocks, const void *arguments, size_t size, void *config,
                             aclrtStream stream);
aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle kernel, uint32_t blocks, aclrtStream stream, void *config,
                                     void *arguments, void *reserved);
aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle kernel, uint32_t blocks, aclrtStream stream, void *config,
                                       void *arguments, size_t size, void *holders, size_t holder_count);
/* `binary` is a handle from rtRegisterAllKernel. The kernels in a binary are functions of the program. */
aclError aclrtBinaryGetFunction(void *binary, const char *name, aclrtFuncHandle *function);
aclError aclrtBinaryGetFunctionByEntry(void *binary, uint64_t entry, aclrtFuncHandle *function);
aclError aclrtGetFunctionName(aclrtFuncHandle function, uint32_t bytes, char *name);

/* From CANN 8 on, the functions above forward to these functions, whose names end with Impl. */
aclError aclrtSetDeviceImpl(int32_t device);
aclError aclrtMallocImpl(void **block, size_t size, int policy);
aclError aclrtMallocAlign32Impl(void **block, size_t size, int policy);
aclError aclrtMallocCachedImpl(void **block, size_t size, int policy);
aclError aclrtMallocWithCfgImpl(void **block, size_t size, int policy, void *config);
aclError aclrtMallocHostImpl(void **block, size_t size);
aclError aclrtFreeImpl(void *block);
aclError aclrtFreeHostImpl(void *block);
aclError aclrtMemcpyImpl(void *to, size_t capacity, const void *from, size_t size, int kind);
aclError aclrtMemcpyAsyncImpl(void *to, size_t capacity, const void *from, size_t size, int kind, aclrtStream stream);
aclError aclrtMemcpy2dImpl(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                           int kind);
aclError aclrtMemcpy2dAsyncImpl(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                size_t height, int kind, aclrtStream stream);
aclError aclrtMemcpyBatchImpl(void **to, size_t *most, void **from, size_t *bytes, size_t count, void *attributes,
                              size_t *indices, size_t attribute_count, size_t *failed);
aclError aclrtMemcpyBatchAsyncImpl(void **to, size_t *most, void **from, size_t *bytes, size_t count, void *attributes,
                                   size_t *indices, size_t attribute_count, size_t *failed, aclrtStream stream);
aclError aclrtMemsetImpl(void *to, size_t capacity, int32_t value, size_t size);
aclError aclrtMemsetAsyncImpl(void *to, size_t capacity, int32_t value, size_t size, aclrtStream stream);
aclError aclrtLaunchKernelImpl(aclrtFuncHandle kernel, uint32_t blocks, const void *arguments, size_t size,
                               aclrtStream stream);
aclError aclrtLaunchKernelV2Impl(aclrtFuncHandle kernel, uint32_t blocks, const void *arguments, size_t size,
                                 void *config, aclrtStream stream);
aclError aclrtLaunchKernelWithConfigImpl(aclrtFuncHandle kernel, uint32_t blocks, aclrtStream stream, void *config,
                                         void *arguments, void *reserved);
aclError aclrtLaunchKernelWithHostArgsImpl(aclrtFuncHandle kernel, uint32_t blocks, aclrtStream stream, void *config,
                                           void *arguments, size_t size, void *holders, size_t holder_count);

/* Types and functions of the runtime, the library below ACL. */
typedef struct {
  void *args;
  void *host_inputs;
  uint32_t size;
  uint32_t tiling_address, tiling;
  uint16_t host_input_count;
  uint8_t has_tiling, is_on_device, reserved[4];
} rtArgsEx_t;
typedef struct {
  uint32_t magic, version;
  const void *data;
  uint64_t length;
} rtDevBinary_t;
int rtKernelLaunch(const void *stub, uint32_t blocks, void *arguments, uint32_t size, void *sm, aclrtStream stream);
int rtKernelLaunchWithFlag(const void *stub, uint32_t blocks, rtArgsEx_t *arguments, void *sm, aclrtStream stream,
                           uint32_t flags);
int rtKernelLaunchWithFlagV2(const void *stub, uint32_t blocks, rtArgsEx_t *arguments, void *sm, aclrtStream stream,
                             uint32_t flags, const void *config);
int rtVectorCoreKernelLaunch(const void *stub, uint32_t blocks, rtArgsEx_t *arguments, void *sm, aclrtStream stream,
                             uint32_t flags, const void *config);
int rtLaunchKernelByFuncHandle(void *function, uint32_t blocks, void *arguments, aclrtStream stream);
int rtLaunchKernelByFuncHandleV2(void *function, uint32_t blocks, void *arguments, aclrtStream stream,
                                 const void *config);
int rtLaunchKernelByFuncHandleV3(void *function, uint32_t blocks, const rtArgsEx_t *arguments, aclrtStream stream,
                                 const void *config);
int rtsLaunchKernelWithConfig(void *function, uint32_t blocks, aclrtStream stream, void *config, void *arguments,
                              void *reserved);
int rtsLaunchKernelWithDevArgs(void *function, uint32_t blocks, aclrtStream stream, void *config, const void *arguments,
                               uint32_t size, void *reserved);
int rtsLaunchKernelWithHostArgs(void *function, uint32_t blocks, aclrtStream stream, void *config, void *arguments,
                                uint32_t size, void *holders, uint32_t holder_count);
/* Launch a kernel of a registered binary: the function of the program that standinRuns stored for the handle. */
int rtKernelLaunchWithHandle(void *binary, uint64_t key, uint32_t blocks, rtArgsEx_t *arguments, void *sm,
                             aclrtStream stream, const void *kernel);
int rtKernelLaunchWithHandleV2(void *binary, uint64_t key, uint32_t blocks, rtArgsEx_t *arguments, void *sm,
                               aclrtStream stream, const void *config);
int rtVectorCoreKernelLaunchWithHandle(void *binary, uint64_t key, uint32_t blocks, rtArgsEx_t *arguments, void *sm,
                                       aclrtStream stream, const void *config);
/* A real driver launches on the device's AI CPUs. The stand-in launches a function of the program. */
int rtAicpuKernelLaunchExWithArgs(uint32_t type, const char *name, uint32_t blocks, const rtArgsEx_t *arguments,
                                  void *sm, aclrtStream stream, uint32_t flags);
/* These do the same as aclrtBinaryGetFunction and …ByEntry. CANN has two names for each of them. */
int rtsFuncGetByName(void *binary, const char *name, void **function);
int rtsFuncGetByEntry(void *binary, uint64_t entry, void **function);
int rtBinaryGetFunctionByName(void *binary, const char *name, void **function);
int rtBinaryGetFunction(void *binary, uint64_t key, void **function);
int rtsFuncGetName(void *function, uint32_t bytes, char *name);
int rtFunctionRegister(void *binary, const void *stub, const char *name, const void *more, uint32_t mode);
int rtDevBinaryRegister(const rtDevBinary_t *binary, void **handle);
int rtRegisterAllKernel(const rtDevBinary_t *binary, void **handle);
void standinRuns(void *binary, void (*kernel)(const void *arguments, size_t size));

/* Functions of the driver. With STANDIN_INNER, their names end with Inner. A real driver has these names for tools. */
struct drv_mem_prop {
  uint32_t side, devid, module_id, pg_type, mem_type;
  uint64_t reserve;
};
int halMemAlloc(void **block, unsigned long long size, unsigned long long flag);
int halMemFree(void *block);
int halMemCreate(void **handle, size_t size, const struct drv_mem_prop *property, uint64_t flag);
int halMemRelease(void *handle);
int halMemMap(void *address, size_t size, size_t offset, void *handle, uint64_t flag);
int halMemUnmap(void *address);
int halMemRetainAllocationHandle(void **handle, void *address);
int halMemImportFromShareableHandle(uint64_t shared, uint32_t device, void **handle);
/* The stand-in calls `call` after a block was freed, before the function that freed the block returns. */
void standinBehindRelease(void (*call)(void));
int halGetAPIVersion(int *version); /* 0x070000: 7.0.0 */

/* Belongs to a library of CANN that allocates from the driver directly, as the communication library does. */
int hcclBuffer(int device, void **block, size_t size);

#ifdef __cplusplus
}
#endif
