// Imitates the primary contexts of CUDA's driver. A context that nobody retains is not active.
#include "../common/refusal.h"

#include <cerrno>

namespace {
int owners[2];
} // namespace

extern "C" {
int cuDevicePrimaryCtxRetain(void **context, int device) {
  *context = &owners[device];
  ++owners[device];
  return 0;
}
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) {
  errno = EXDEV;
  *flags = 0;
  *active = owners[device] != 0;
  return 0;
}
int cuDevicePrimaryCtxReset_v2(int) {
  STANDIN_MAY_REFUSE();
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int device) {
  STANDIN_MAY_REFUSE();
  --owners[device];
  return 0;
}
}
