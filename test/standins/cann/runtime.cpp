// libruntime.so: launches, on the streams that ACL made.
#include "../common/machine.h"

#include "acl.h"

int rtKernelLaunch(const void *stub, uint32_t, void *arguments, uint32_t size, void *, aclrtStream stream) {
  if (stub == nullptr)
    return ACL_ERROR_INVALID_PARAM;
  auto *const function = reinterpret_cast<void (*)(const void *, size_t)>(reinterpret_cast<uintptr_t>(stub));
  auto &of = *static_cast<standin::Stream *>(stream);
  of.run([=] { function(arguments, size); });
  of.wait(); // its arguments may be gone when the call returns
  return 0;
}
