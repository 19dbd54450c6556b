// The functions by which the runtime calls Ascend's ACL (hook::Device).
#include "devices/device.h"

using namespace msleaks;

namespace {

MSL_ASKED(synchronize, "libascendcl", "aclrtSynchronizeStream")
MSL_ASKED(information, "libascendcl", "aclrtGetMemInfo")
MSL_ASKED(copy, "libascendcl", "aclrtMemcpyAsync")

int32_t wait(const void *stream) { return hooks::callReal<int(const void *)>(synchronize, stream); }

int32_t read(const void *stream, const void *block, uint64_t offset, uint64_t bytes, void *to) {
  constexpr int kDeviceToHost = 2;
  const auto *from = static_cast<const char *>(block) + offset;
  using Copy = int(void *, size_t, const void *, size_t, int, const void *);
  const int32_t status = hooks::callReal<Copy>(copy, to, bytes, from, bytes, kDeviceToHost, stream);
  return status == 0 ? wait(stream) : status;
}

int32_t memory(uint64_t *free, uint64_t *total) {
  constexpr int kHighBandwidth = 1; // ACL_HBM_MEM
  return hooks::callReal<int(int, size_t *, size_t *)>(information, kHighBandwidth, free, total);
}

MSL_DEVICE_OF(Acl, wait, read, nullptr, memory, nullptr) // acl_kernels.cpp records the names

} // namespace
