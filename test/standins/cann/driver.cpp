// Imitates libascend_hal.so, the driver, with $STANDIN_DEVICES devices of $STANDIN_DEVICE_BYTES each.
#ifdef STANDIN_INNER
#define halMemAlloc halMemAllocInner
#define halMemFree halMemFreeInner
#define halMemCreate halMemCreateInner
#define halMemRelease halMemReleaseInner
#endif

#include "../common/asked.h"
#include "../common/machine.h"
#include "../common/refusal.h"

#include "acl.h"

#include <atomic>

namespace {

constexpr int kInvalid = 3, kOutOfMemory = 6;
constexpr unsigned kHost = 2;

standin::Machine &machine() {
  static auto *const made = new standin::Machine;
  return *made;
}

std::atomic<void (*)()> behind_release{nullptr};

int take(void **block, unsigned long long size, unsigned long long flag) {
  const auto device = static_cast<unsigned>(flag & 0x3ff);
  if (device >= machine().count())
    return kInvalid;
  standin::Memory &memory = (flag >> 10 & 0xf) == kHost ? machine().pinned() : machine().device(device);
  *block = memory.allocate(size);
  return *block != nullptr ? 0 : kOutOfMemory;
}
int give(void *block) {
  if (!machine().release(block))
    return kInvalid;
  if (const auto call = behind_release.load())
    call();
  return 0;
}

} // namespace

void standinBehindRelease(void (*call)()) { behind_release = call; }
extern "C" unsigned standinDevices() { return machine().count(); }
extern "C" size_t standinFree(unsigned device) { return machine().device(device).free(); }
extern "C" size_t standinTotal(unsigned device) { return machine().device(device).total(); }

int halMemAlloc(void **block, unsigned long long size, unsigned long long flag) {
  STANDIN_MAY_REFUSE();
  return take(block, size, flag);
}

// The handle of physical memory is a record that the driver allocates, not the memory's address.
namespace {
struct Physical {
  void *memory;
};
} // namespace

int halMemCreate(void **handle, size_t size, const drv_mem_prop *property, uint64_t) {
  STANDIN_MAY_REFUSE();
  if (handle == nullptr || property == nullptr)
    return kInvalid;
  const unsigned long long side = property->side == 1 ? 1 : kHost;
  void *memory = nullptr;
  const int status = take(&memory, size, side << 10 | (property->devid & 0x3ff));
  if (status == 0)
    *handle = new Physical{memory};
  return status;
}
int halMemRelease(void *handle) {
  STANDIN_MAY_REFUSE();
  auto *const physical = static_cast<Physical *>(handle);
  const int status = give(physical->memory);
  if (status == 0)
    delete physical;
  return status;
}

int halGetAPIVersion(int *version) {
  *version = static_cast<int>(standin::fromEnvironment("STANDIN_HAL_VERSION", 7)) << 16;
  return standin::asked(0);
}

int halMemFree(void *block) {
  STANDIN_MAY_REFUSE();
  return give(block);
}
