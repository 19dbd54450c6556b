// libascend_hal.so: the driver. $STANDIN_DEVICES of $STANDIN_DEVICE_BYTES each.
#include "../common/machine.h"

#include "acl.h"

namespace {

constexpr int kInvalid = 3, kOutOfMemory = 6;
constexpr unsigned kHost = 2;

standin::Machine &machine() {
  static auto *const made = new standin::Machine;
  return *made;
}

} // namespace

extern "C" unsigned standinDevices() { return machine().count(); }
extern "C" size_t standinFree(unsigned device) { return machine().device(device).free(); }
extern "C" size_t standinTotal(unsigned device) { return machine().device(device).total(); }

int halMemAlloc(void **block, unsigned long long size, unsigned long long flag) {
  const auto device = static_cast<unsigned>(flag & 0x3ff);
  if (device >= machine().count())
    return kInvalid;
  standin::Memory &memory = (flag >> 10 & 0xf) == kHost ? machine().pinned() : machine().device(device);
  *block = memory.allocate(size);
  return *block != nullptr ? 0 : kOutOfMemory;
}

int halMemFree(void *block) { return machine().release(block) ? 0 : kInvalid; }
