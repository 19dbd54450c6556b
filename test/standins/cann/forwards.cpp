// Imitates libascendcl.so of CANN 8 and later: each function forwards to a function of another library.
#include "acl.h"

#define FORWARD(name, parameters, arguments)                                                                           \
  extern "C" aclError name##Impl parameters;                                                                           \
  aclError name parameters { return name##Impl arguments; }

FORWARD(aclrtSetDevice, (int32_t device), (device))
FORWARD(aclrtMalloc, (void **block, size_t size, int policy), (block, size, policy))
FORWARD(aclrtMallocAlign32, (void **block, size_t size, int policy), (block, size, policy))
FORWARD(aclrtMallocCached, (void **block, size_t size, int policy), (block, size, policy))
FORWARD(aclrtMallocWithCfg, (void **block, size_t size, int policy, void *config), (block, size, policy, config))
FORWARD(aclrtMallocHost, (void **block, size_t size), (block, size))
FORWARD(aclrtFree, (void *block), (block))
FORWARD(aclrtFreeHost, (void *block), (block))
FORWARD(aclrtMemcpy, (void *to, size_t capacity, const void *from, size_t size, int kind),
        (to, capacity, from, size, kind))
FORWARD(aclrtMemcpyAsync, (void *to, size_t capacity, const void *from, size_t size, int kind, aclrtStream stream),
        (to, capacity, from, size, kind, stream))
FORWARD(aclrtMemcpy2d,
        (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind),
        (to, to_pitch, from, from_pitch, width, height, kind))
FORWARD(aclrtMemcpy2dAsync,
        (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind,
         aclrtStream stream),
        (to, to_pitch, from, from_pitch, width, height, kind, stream))
FORWARD(aclrtMemcpyBatch,
        (void **to, size_t *most, void **from, size_t *bytes, size_t count, void *attributes, size_t *indices,
         size_t attribute_count, size_t *failed),
        (to, most, from, bytes, count, attributes, indices, attribute_count, failed))
FORWARD(aclrtMemcpyBatchAsync,
        (void **to, size_t *most, void **from, size_t *bytes, size_t count, void *attributes, size_t *indices,
         size_t attribute_count, size_t *failed, aclrtStream stream),
        (to, most, from, bytes, count, attributes, indices, attribute_count, failed, stream))
FORWARD(aclrtMemset, (void *to, size_t capacity, int32_t value, size_t size), (to, capacity, value, size))
FORWARD(aclrtMemsetAsync, (void *to, size_t capacity, int32_t value, size_t size, aclrtStream stream),
        (to, capacity, value, size, stream))
FORWARD(aclrtLaunchKernel,
        (aclrtFuncHandle kernel, uint32_t blocks, const void *arguments, size_t size, aclrtStream stream),
        (kernel, blocks, arguments, size, stream))
FORWARD(aclrtLaunchKernelV2,
        (aclrtFuncHandle kernel, uint32_t blocks, const void *arguments, size_t size, void *config, aclrtStream stream),
        (kernel, blocks, arguments, size, config, stream))
FORWARD(aclrtLaunchKernelWithConfig,
        (aclrtFuncHandle kernel, uint32_t blocks, aclrtStream stream, void *config, void *arguments, void *reserved),
        (kernel, blocks, stream, config, arguments, reserved))
FORWARD(aclrtLaunchKernelWithHostArgs,
        (aclrtFuncHandle kernel, uint32_t blocks, aclrtStream stream, void *config, void *arguments, size_t size,
         void *holders, size_t holder_count),
        (kernel, blocks, stream, config, arguments, size, holders, holder_count))
