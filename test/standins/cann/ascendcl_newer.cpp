// Imitates functions that ACL has since CANN 8.3. They call the functions of ascendcl.cpp, or only return a handle. If
// a hooked function calls another one, msleaks records only the outer call.
#include "acl_newer.h"

namespace {

int handles[8];
unsigned used = 0;

aclError made(void **handle) {
  *handle = &handles[used++ % 8];
  return ACL_SUCCESS;
}
char *at(const void *symbol, size_t offset) { return static_cast<char *>(const_cast<void *>(symbol)) + offset; }

} // namespace

aclError aclrtMallocHostWithCfg(void **block, uint64_t size, void *) { return aclrtMallocHost(block, size); }
aclError aclrtMallocForTaskScheduler(void **block, size_t size, int policy, void *) {
  return aclrtMalloc(block, size, policy);
}
aclError aclrtMemAllocManaged(void **block, uint64_t size, uint32_t) { return aclrtMalloc(block, size, 0); }
aclError aclrtMemPoolMallocAsync(void **block, size_t size, void *, aclrtStream) { return aclrtMalloc(block, size, 0); }
aclError aclrtFreeWithDevSync(void *block) { return aclrtFree(block); }
aclError aclrtFreeHostWithDevSync(void *block) { return aclrtFreeHost(block); }
aclError aclrtMemPoolFreeAsync(void *block, aclrtStream) { return aclrtFree(block); }

aclError aclrtLaunchKernelWithArgsArray(void *kernel, uint32_t blocks, aclrtStream stream, void *, void **arguments) {
  return aclrtLaunchKernel(kernel, blocks, arguments[0], sizeof(int), stream);
}

aclError aclrtMemcpyAsyncWithCondition(void *to, size_t capacity, const void *from, size_t size, int kind,
                                       aclrtStream stream) {
  return aclrtMemcpyAsync(to, capacity, from, size, kind, stream);
}
aclError aclrtMemcpyToSymbol(const void *symbol, const void *from, size_t size, size_t offset, int kind) {
  return aclrtMemcpy(at(symbol, offset), size, from, size, kind);
}
aclError aclrtMemcpyToSymbolAsync(const void *symbol, const void *from, size_t size, size_t offset, int kind,
                                  aclrtStream stream) {
  return aclrtMemcpyAsync(at(symbol, offset), size, from, size, kind, stream);
}
aclError aclrtMemcpyFromSymbol(void *to, size_t capacity, const void *symbol, size_t size, size_t offset, int kind) {
  return aclrtMemcpy(to, capacity, at(symbol, offset), size, kind);
}
aclError aclrtMemcpyFromSymbolAsync(void *to, size_t capacity, const void *symbol, size_t size, size_t offset, int kind,
                                    aclrtStream stream) {
  return aclrtMemcpyAsync(to, capacity, at(symbol, offset), size, kind, stream);
}
aclError aclrtMemcpyAsyncWithOffset(void **to, size_t capacity, size_t to_offset, const void **from, size_t size,
                                    size_t from_offset, int kind, aclrtStream stream) {
  return aclrtMemcpyAsync(at(*to, to_offset), capacity, at(*from, from_offset), size, kind, stream);
}
aclError aclrtReduceAsync(void *, const void *, uint64_t, int, int, aclrtStream, void *) { return ACL_SUCCESS; }
aclError aclrtValueWrite(void *, uint64_t, uint32_t, aclrtStream) { return ACL_SUCCESS; }
aclError aclrtValueWait(void *, uint64_t, uint32_t, aclrtStream) { return ACL_SUCCESS; }
aclError aclrtMemcpyAsyncWithDesc(void *, int, aclrtStream) { return ACL_SUCCESS; }
aclError aclrtMemcpyBatchV2(void **to, size_t *most, void **from, size_t *bytes, size_t count, void *attributes,
                            size_t *indices, size_t attribute_count) {
  size_t failed;
  return aclrtMemcpyBatch(to, most, from, bytes, count, attributes, indices, attribute_count, &failed);
}
aclError aclrtMemcpyBatchAsyncV2(void **to, size_t *most, void **from, size_t *bytes, size_t count, void *attributes,
                                 size_t *indices, size_t attribute_count, aclrtStream stream) {
  size_t failed;
  return aclrtMemcpyBatchAsync(to, most, from, bytes, count, attributes, indices, attribute_count, &failed, stream);
}

aclError aclrtMemsetD32(void *to, size_t capacity, uint32_t value, size_t count) {
  if (to == nullptr || count * sizeof value > capacity)
    return ACL_ERROR_INVALID_PARAM;
  return aclrtMemset(to, capacity, static_cast<int32_t>(value), count * sizeof value); // of equal bytes
}
aclError aclrtMemsetD32Async(void *to, size_t capacity, uint32_t value, size_t count, aclrtStream stream) {
  if (to == nullptr || count * sizeof value > capacity)
    return ACL_ERROR_INVALID_PARAM;
  return aclrtMemsetAsync(to, capacity, static_cast<int32_t>(value), count * sizeof value, stream);
}

// Imported memory of another process is a block of this process. There is one at a time.
static void *imported = nullptr;
static constexpr size_t kImported = 2048;
aclError aclrtMemGetAddressRange(void *address, void **begin, size_t *size) {
  if (address != imported)
    return ACL_ERROR_INVALID_PARAM;
  *begin = imported;
  *size = kImported;
  return ACL_SUCCESS;
}
aclError aclrtIpcMemImportByKey(void **block, const char *, uint64_t) {
  const aclError status = imported == nullptr ? aclrtMalloc(&imported, kImported, 0) : ACL_ERROR_INVALID_PARAM;
  *block = status == ACL_SUCCESS ? imported : *block;
  return status;
}
aclError aclrtIpcMemClose(const char *key) {
  if (key[0] == 'e') // a key of exported memory
    return ACL_SUCCESS;
  const aclError status = aclrtFree(imported);
  imported = nullptr;
  return status;
}

// A context is its device's number plus 1.
aclError aclrtCreateContext(void **context, int32_t device) {
  *context = reinterpret_cast<void *>(static_cast<intptr_t>(device) + 1);
  return aclrtSetDevice(device);
}
aclError aclrtSetCurrentContext(void *context) {
  return aclrtSetDevice(static_cast<int32_t>(reinterpret_cast<intptr_t>(context)) - 1);
}
aclError aclrtDestroyContext(void *) { return ACL_SUCCESS; }

aclError aclrtCreateStreamV2(aclrtStream *stream, const void *) { return aclrtCreateStream(stream); }
aclError aclrtBinaryLoad(void *, void **handle) { return made(handle); }
aclError aclrtBinaryLoadFromData(const void *, size_t, const void *, void **handle) { return made(handle); }
aclError aclrtBinaryLoadFromFile(const char *, void *, void **handle) { return made(handle); }
aclError aclrtBinaryUnLoad(void *) { return ACL_SUCCESS; }
aclError aclmdlRICaptureEnd(aclrtStream, void **model) { return made(model); }
aclError aclmdlRIBuildBegin(void **model, uint32_t) { return made(model); }
aclError aclmdlRIDestroy(void *) { return ACL_SUCCESS; }
aclError aclmdlRIExecute(void *, int32_t) { return ACL_SUCCESS; }
aclError aclmdlRIExecuteAsync(void *, aclrtStream) { return ACL_SUCCESS; }
