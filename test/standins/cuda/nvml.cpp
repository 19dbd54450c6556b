// Imitates NVML: it reports the memory in use on a device, including the driver's own reserve.
#include "../common/machine.h"
#include "../common/refusal.h"

#include <cstdio>
#include <dlfcn.h>

namespace {

constexpr unsigned long long kReserved = 5 << 20;
constexpr int kUninitialized = 1, kInvalid = 2, kNotFound = 6;

bool is_begun = false;

// Returns the bytes in use on a device, from a function of CUDA's stand-in. Returns 0 if there is no such device.
size_t inUse(size_t bus) {
  auto *const ask = reinterpret_cast<size_t (*)(size_t)>(dlsym(RTLD_DEFAULT, "standin_in_use"));
  return ask != nullptr ? ask(bus) : 0;
}

} // namespace

extern "C" {
struct nvmlMemory_t {
  unsigned long long total, free, used;
};

int nvmlInit_v2() {
  STANDIN_MAY_REFUSE();
  is_begun = true;
  return 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char *text, void **device) {
  STANDIN_MAY_REFUSE();
  unsigned bus = 0;
  if (!is_begun)
    return kUninitialized;
  if (std::sscanf(text, "0000:%x:00.0", &bus) != 1)
    return kInvalid;
  *device = reinterpret_cast<void *>(static_cast<uintptr_t>(bus));
  return inUse(bus) != 0 ? 0 : kNotFound;
}
int nvmlDeviceGetMigMode(void *, unsigned *now, unsigned *next) {
  STANDIN_MAY_REFUSE();
  *now = *next = static_cast<unsigned>(standin::fromEnvironment("STANDIN_MIG", 0));
  return 0;
}
int nvmlDeviceGetMemoryInfo(void *device, nvmlMemory_t *memory) {
  STANDIN_MAY_REFUSE();
  memory->used = inUse(reinterpret_cast<uintptr_t>(device)) + kReserved;
  memory->total = standin::fromEnvironment("STANDIN_DEVICE_BYTES", 64 << 20) + kReserved;
  memory->free = memory->total - memory->used;
  return 0;
}
}
