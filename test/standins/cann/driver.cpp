// Imitates libascend_hal.so, the driver, with $STANDIN_DEVICES devices of $STANDIN_DEVICE_BYTES each.
#ifdef STANDIN_INNER
#define halMemAlloc halMemAllocInner
#define halMemFree halMemFreeInner
#define halMemCreate halMemCreateInner
#define halMemRelease halMemReleaseInner
#define halMemMap halMemMapInner
#define halMemUnmap halMemUnmapInner
#define halMemRetainAllocationHandle halMemRetainAllocationHandleInner
#define halMemImportFromShareableHandle halMemImportFromShareableHandleInner
#endif

#include "../common/asked.h"
#include "../common/machine.h"
#include "../common/refusal.h"

#include "acl.h"

#include <atomic>
#include <map>
#include <mutex>
#include <sys/mman.h>

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

// The handle of physical memory is a record that the driver allocates, not the memory's address. The memory is alive as
// long as the handle has owners, or the memory is mapped.
namespace {

constexpr size_t kPage = 4096;
struct Physical {
  char *memory;
  size_t size;
  unsigned device;
  unsigned owners, mappings;
};
std::mutex mutex;
std::map<void *, Physical *> mappings; // by the address of the mapping

void endIfUnused(Physical *physical) {
  if (physical->owners != 0 || physical->mappings != 0)
    return;
  give(physical->memory);
  delete physical;
}
int create(void **handle, size_t size, bool is_on_device, unsigned device) {
  void *memory = nullptr;
  const unsigned long long side = is_on_device ? 1 : kHost;
  const int status = take(&memory, size + kPage, side << 10 | (device & 0x3ff)); // a mapping begins at a whole page
  if (status == 0)
    *handle = new Physical{static_cast<char *>(memory), size, device, 1, 0};
  return status;
}

} // namespace

int halMemCreate(void **handle, size_t size, const drv_mem_prop *property, uint64_t) {
  STANDIN_MAY_REFUSE();
  if (handle == nullptr || property == nullptr)
    return kInvalid;
  return create(handle, size, property->side == 1, property->devid);
}
int halMemRelease(void *handle) {
  STANDIN_MAY_REFUSE();
  const std::lock_guard lock(mutex);
  auto *const physical = static_cast<Physical *>(handle);
  if (physical->owners == 0)
    return kInvalid;
  --physical->owners;
  endIfUnused(physical);
  if (const auto call = behind_release.load())
    call();
  return 0;
}
int halMemMap(void *address, size_t size, size_t offset, void *handle, uint64_t) {
  STANDIN_MAY_REFUSE();
  const std::lock_guard lock(mutex);
  auto *const physical = static_cast<Physical *>(handle);
  if (mappings.count(address) != 0 || offset != 0 || size > physical->size)
    return kInvalid;
  const auto from = (reinterpret_cast<uint64_t>(physical->memory) + kPage - 1) / kPage * kPage;
  if (!machine().device(physical->device).showAt(address, reinterpret_cast<void *>(from), size))
    return kInvalid;
  ++physical->mappings;
  mappings[address] = physical;
  return 0;
}
int halMemUnmap(void *address) {
  STANDIN_MAY_REFUSE();
  const std::lock_guard lock(mutex);
  const auto found = mappings.find(address);
  if (found == mappings.end())
    return kInvalid;
  Physical *const physical = found->second;
  mmap(address, physical->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  mappings.erase(found);
  --physical->mappings;
  endIfUnused(physical);
  return 0;
}
int halMemRetainAllocationHandle(void **handle, void *address) {
  const std::lock_guard lock(mutex);
  const auto found = mappings.find(address);
  if (found == mappings.end())
    return kInvalid;
  ++found->second->owners;
  *handle = found->second;
  return 0;
}
// In the stand-in, the number of the shared memory is its size.
int halMemImportFromShareableHandle(uint64_t shared, uint32_t device, void **handle) {
  return create(handle, shared, true, device);
}

int halGetAPIVersion(int *version) {
  *version = static_cast<int>(standin::fromEnvironment("STANDIN_HAL_VERSION", 7)) << 16;
  return standin::asked(0);
}

int halMemFree(void *block) {
  STANDIN_MAY_REFUSE();
  return give(block);
}
