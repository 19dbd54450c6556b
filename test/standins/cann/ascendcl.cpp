// Imitates libascendcl.so (ACL). It allocates device memory from the driver, 32 bytes more than requested, and launches
// through the runtime. With STANDIN_IMPL, it is libacl_rt_impl.so, to which forwards.cpp forwards.
#ifdef STANDIN_IMPL
#include "impl_names.h"
#endif

#include "../common/asked.h"
#include "../common/machine.h"
#include "../common/refusal.h"

#include "acl.h"
#include "functions.h"

#include <cstring>

extern "C" unsigned standinDevices();
extern "C" size_t standinFree(unsigned device);
extern "C" size_t standinTotal(unsigned device);

namespace {

thread_local int current = 0;
auto &locked = *new standin::Locked;
constexpr unsigned long long kDevice = 1, kHost = 2, kAcl = 48, kHccl = 3;

unsigned long long flagOf(int device, unsigned long long module, unsigned long long side = kDevice) {
  return static_cast<unsigned long long>(device) | side << 10 | module << 56;
}

// Returns the stream of a handle. Null means the default stream.
standin::Stream &of(aclrtStream stream) {
  static standin::Stream default_stream;
  return stream != nullptr ? *static_cast<standin::Stream *>(stream) : default_stream;
}

aclError take(void **block, size_t size) {
  if (block == nullptr || size == 0)
    return ACL_ERROR_INVALID_PARAM;
  return halMemAlloc(block, size + 32, flagOf(current, kAcl)) == 0 ? ACL_SUCCESS : ACL_ERROR_BAD_ALLOC;
}
aclError give(void *block) { return halMemFree(block) == 0 ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM; }

// A copy of rows. A pitch is the distance between the beginnings of two rows.
struct Rows {
  char *to;
  size_t to_pitch;
  const char *from;
  size_t from_pitch, width, height;
  Rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height)
      : to(static_cast<char *>(to)), to_pitch(to_pitch), from(static_cast<const char *>(from)), from_pitch(from_pitch),
        width(width), height(height) {}
  bool makeSense() const { return to != nullptr && from != nullptr && width <= to_pitch && width <= from_pitch; }
  void copy() const {
    for (size_t row = 0; row < height; ++row)
      std::memmove(to + row * to_pitch, from + row * from_pitch, width);
  }
};

} // namespace

aclError aclInit(const char *) {
  STANDIN_MAY_REFUSE();
  return ACL_SUCCESS;
}
aclError aclFinalize() {
  STANDIN_MAY_REFUSE();
  return ACL_SUCCESS;
}
aclError aclrtSetDevice(int32_t device) {
  STANDIN_MAY_REFUSE();
  if (device < 0 || device >= static_cast<int32_t>(standinDevices()))
    return ACL_ERROR_RT_DEVICE;
  current = device;
  return ACL_SUCCESS;
}
aclError aclrtGetDevice(int32_t *device) {
  *device = current;
  return standin::asked(ACL_SUCCESS);
}
aclError aclrtGetMemInfo(int, size_t *free, size_t *total) {
  *free = standinFree(static_cast<unsigned>(current));
  *total = standinTotal(static_cast<unsigned>(current));
  return standin::asked(ACL_SUCCESS);
}
aclError aclrtMalloc(void **block, size_t size, int) {
  STANDIN_MAY_REFUSE();
  return take(block, size);
}
aclError aclrtMallocAlign32(void **block, size_t size, int) {
  STANDIN_MAY_REFUSE();
  return take(block, size);
}
aclError aclrtMallocCached(void **block, size_t size, int) {
  STANDIN_MAY_REFUSE();
  return take(block, size);
}
aclError aclrtMallocWithCfg(void **block, size_t size, int, void *) {
  STANDIN_MAY_REFUSE();
  return take(block, size);
}
aclError aclrtFree(void *block) {
  STANDIN_MAY_REFUSE();
  return give(block);
}
aclError aclrtMallocHost(void **block, size_t size) {
  STANDIN_MAY_REFUSE();
  return halMemAlloc(block, size, flagOf(current, kAcl, kHost)) == 0 ? ACL_SUCCESS : ACL_ERROR_BAD_ALLOC;
}
aclError aclrtFreeHost(void *block) {
  STANDIN_MAY_REFUSE();
  return give(block);
}
aclError aclrtHostRegister(void *block, uint64_t size, int, void **device) {
  STANDIN_MAY_REFUSE();
  *device = block;
  return aclrtHostRegisterV2(block, size, 0);
}
aclError aclrtHostRegisterV2(void *block, uint64_t, uint32_t) {
  STANDIN_MAY_REFUSE();
  return locked.add(block) ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM;
}
aclError aclrtHostUnregister(void *block) {
  STANDIN_MAY_REFUSE();
  return locked.remove(block) ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM;
}
aclError aclrtGetVersion(int32_t *major, int32_t *minor, int32_t *patch) {
  *major = static_cast<int32_t>(standin::fromEnvironment("STANDIN_VERSION", 1));
  *minor = *patch = 0;
  return standin::asked(ACL_SUCCESS);
}
aclError aclrtMemcpy(void *to, size_t capacity, const void *from, size_t size, int) {
  STANDIN_MAY_REFUSE();
  if (to == nullptr || from == nullptr || size > capacity)
    return ACL_ERROR_INVALID_PARAM;
  const standin::Access access;
  std::memmove(to, from, size);
  return ACL_SUCCESS;
}
aclError aclrtMemset(void *to, size_t capacity, int32_t value, size_t size) {
  STANDIN_MAY_REFUSE();
  if (to == nullptr || size > capacity)
    return ACL_ERROR_INVALID_PARAM;
  const standin::Access access;
  std::memset(to, value, size);
  return ACL_SUCCESS;
}
aclError aclrtMemcpyAsync(void *to, size_t capacity, const void *from, size_t size, int, aclrtStream stream) {
  STANDIN_MAY_REFUSE();
  if (to == nullptr || from == nullptr || size > capacity)
    return ACL_ERROR_INVALID_PARAM;
  of(stream).run([=] { std::memmove(to, from, size); });
  return standin::asked(ACL_SUCCESS);
}
aclError aclrtMemcpy2d(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                       int) {
  STANDIN_MAY_REFUSE();
  const Rows rows(to, to_pitch, from, from_pitch, width, height);
  if (!rows.makeSense())
    return ACL_ERROR_INVALID_PARAM;
  const standin::Access access;
  rows.copy();
  return ACL_SUCCESS;
}
aclError aclrtMemcpy2dAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                            int, aclrtStream stream) {
  STANDIN_MAY_REFUSE();
  const Rows rows(to, to_pitch, from, from_pitch, width, height);
  if (!rows.makeSense())
    return ACL_ERROR_INVALID_PARAM;
  of(stream).run([rows] { rows.copy(); });
  return ACL_SUCCESS;
}
aclError aclrtMemcpyBatch(void **to, size_t *most, void **from, size_t *bytes, size_t count, void *, size_t *, size_t,
                          size_t *failed) {
  const standin::Access access;
  for (size_t i = 0; i < count; ++i) {
    *failed = i;
    if (bytes[i] > most[i])
      return ACL_ERROR_INVALID_PARAM;
    std::memmove(to[i], from[i], bytes[i]);
  }
  return ACL_SUCCESS;
}
aclError aclrtMemcpyBatchAsync(void **to, size_t *most, void **from, size_t *bytes, size_t count, void *, size_t *,
                               size_t, size_t *failed, aclrtStream stream) {
  for (size_t i = 0; i < count; ++i) {
    *failed = i;
    if (bytes[i] > most[i])
      return ACL_ERROR_INVALID_PARAM;
    of(stream).run([to = to[i], from = from[i], bytes = bytes[i]] { std::memmove(to, from, bytes); });
  }
  return ACL_SUCCESS;
}
aclError aclrtMemsetAsync(void *to, size_t capacity, int32_t value, size_t size, aclrtStream stream) {
  STANDIN_MAY_REFUSE();
  if (to == nullptr || size > capacity)
    return ACL_ERROR_INVALID_PARAM;
  of(stream).run([=] { std::memset(to, value, size); });
  return ACL_SUCCESS;
}
aclError aclrtCreateStream(aclrtStream *stream) {
  STANDIN_MAY_REFUSE();
  *stream = new standin::Stream;
  return ACL_SUCCESS;
}
aclError aclrtDestroyStream(aclrtStream stream) {
  STANDIN_MAY_REFUSE();
  delete static_cast<standin::Stream *>(stream);
  return ACL_SUCCESS;
}
aclError aclrtSynchronizeStream(aclrtStream stream) {
  of(stream).wait();
  return standin::asked(ACL_SUCCESS);
}
aclError aclrtLaunchKernel(aclrtFuncHandle kernel, uint32_t blocks, const void *arguments, size_t size,
                           aclrtStream stream) {
  STANDIN_MAY_REFUSE();
  return rtKernelLaunch(kernel, blocks, const_cast<void *>(arguments), static_cast<uint32_t>(size), nullptr, stream);
}
aclError aclrtLaunchKernelV2(aclrtFuncHandle kernel, uint32_t blocks, const void *arguments, size_t size, void *config,
                             aclrtStream stream) {
  STANDIN_MAY_REFUSE();
  return rtsLaunchKernelWithDevArgs(kernel, blocks, stream, config, arguments, static_cast<uint32_t>(size), nullptr);
}
aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle kernel, uint32_t blocks, aclrtStream stream, void *config,
                                     void *arguments, void *reserved) {
  STANDIN_MAY_REFUSE();
  return rtsLaunchKernelWithConfig(kernel, blocks, stream, config, arguments, reserved);
}
aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle kernel, uint32_t blocks, aclrtStream stream, void *config,
                                       void *arguments, size_t size, void *holders, size_t holder_count) {
  STANDIN_MAY_REFUSE();
  return rtsLaunchKernelWithHostArgs(kernel, blocks, stream, config, arguments, static_cast<uint32_t>(size), holders,
                                     static_cast<uint32_t>(holder_count));
}
aclError aclrtBinaryGetFunction(void *, const char *name, aclrtFuncHandle *function) {
  STANDIN_MAY_REFUSE();
  return standin::functionOf(name, function) ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM;
}
aclError aclrtBinaryGetFunctionByEntry(void *, uint64_t entry, aclrtFuncHandle *function) {
  STANDIN_MAY_REFUSE();
  return standin::functionOf(entry, function) ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM;
}
aclError aclrtGetFunctionName(aclrtFuncHandle function, uint32_t bytes, char *name) {
  return standin::asked(standin::nameOf(function, bytes, name) ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM);
}

int hcclBuffer(int device, void **block, size_t size) { return halMemAlloc(block, size, flagOf(device, kHccl)); }
