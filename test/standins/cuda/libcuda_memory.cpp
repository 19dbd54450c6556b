// Imitates CUDA's driver: physical memory, which can be mapped, arrays, locked host memory, and launches of graphs.
#include "../common/machine.h"
#include "../common/refusal.h"

#include <iterator>
#include <sys/mman.h>

namespace {

standin::Machine &machine() {
  static auto *const made = new standin::Machine;
  return *made;
}

constexpr int kInvalid = 1, kOutOfMemory = 2, kLocked = 712, kNotLocked = 713;
constexpr uintptr_t kPage = 4096;

struct Property {
  int type, handle_types, place, device;
};

// A physical block. It exists as long as a handle or a mapping of it exists.
struct Physical {
  size_t bytes;
  standin::Memory *memory;
  unsigned handles = 1, mappings = 0;
};
struct Mapping {
  size_t bytes;
  unsigned long long handle;
};
std::mutex mutex;
auto &blocks = *new std::map<unsigned long long, Physical>;
auto &mappings = *new std::map<unsigned long long, Mapping>; // by address

void *pointer(unsigned long long address) { return reinterpret_cast<void *>(address); }

struct Array {
  size_t width, height;
  int format;
  unsigned channels;
};
struct Array3D {
  size_t width, height, depth;
  int format;
  unsigned channels, flags;
};
int allocateArray(void **array, size_t elements) {
  *array = machine().device(0).allocate(8 * elements);
  return *array != nullptr ? 0 : kOutOfMemory;
}
int release(void *array) { return machine().release(array) ? 0 : kInvalid; }

void endIfUnused(unsigned long long handle) {
  const Physical &block = blocks.at(handle);
  if (block.handles != 0 || block.mappings != 0)
    return;
  block.memory->release(pointer(handle));
  blocks.erase(handle);
}

// Allocates one page more than requested, so that whole pages can be mapped.
int create(unsigned long long *handle, size_t bytes, standin::Memory &memory) {
  const std::lock_guard lock(mutex);
  auto *const block = memory.allocate(bytes + kPage);
  if (block == nullptr)
    return kOutOfMemory;
  *handle = reinterpret_cast<unsigned long long>(block);
  blocks[*handle] = {bytes, &memory};
  return 0;
}

} // namespace

extern "C" {
int cuMemCreate(unsigned long long *handle, size_t bytes, const Property *property, unsigned long long) {
  STANDIN_MAY_REFUSE();
  constexpr int kOnDevice = 1;
  if (property == nullptr || property->device < 0 || property->device >= static_cast<int>(machine().count()))
    return kInvalid;
  return create(handle, bytes,
                property->place == kOnDevice ? machine().device(static_cast<unsigned>(property->device))
                                             : machine().pinned());
}
// Imitates memory of another process, on device 0. `from` is the size of this memory.
int cuMemImportFromShareableHandle(unsigned long long *handle, void *from, int) {
  STANDIN_MAY_REFUSE();
  return create(handle, reinterpret_cast<size_t>(from), machine().device(0));
}
// A multicast object has memory of its own. `property` begins with the number of devices, and then has the size.
int cuMulticastCreate(unsigned long long *handle, const size_t *property) {
  STANDIN_MAY_REFUSE();
  return create(handle, property[1], machine().device(0));
}
int cuMulticastBindMem(unsigned long long object, size_t, unsigned long long memory, size_t, size_t,
                       unsigned long long) {
  STANDIN_MAY_REFUSE();
  const std::lock_guard lock(mutex);
  return blocks.count(object) != 0 && blocks.count(memory) != 0 ? 0 : kInvalid;
}
int cuMulticastUnbind(unsigned long long, int, size_t, size_t) {
  STANDIN_MAY_REFUSE();
  return 0;
}
int cuMemRelease(unsigned long long handle) {
  STANDIN_MAY_REFUSE();
  const std::lock_guard lock(mutex);
  const auto found = blocks.find(handle);
  if (found == blocks.end() || found->second.handles == 0)
    return kInvalid;
  --found->second.handles;
  endIfUnused(handle);
  return 0;
}
int cuMemRetainAllocationHandle(unsigned long long *handle, void *address) {
  STANDIN_MAY_REFUSE();
  const std::lock_guard lock(mutex);
  const auto found = mappings.find(reinterpret_cast<unsigned long long>(address));
  if (found == mappings.end())
    return kInvalid;
  *handle = found->second.handle;
  ++blocks.at(*handle).handles;
  return 0;
}
int cuMemAddressReserve(unsigned long long *address, size_t bytes, size_t, unsigned long long, unsigned long long) {
  STANDIN_MAY_REFUSE();
  void *const reserved = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  *address = reinterpret_cast<unsigned long long>(reserved);
  return reserved != MAP_FAILED ? 0 : kOutOfMemory;
}
int cuMemAddressFree(unsigned long long address, size_t bytes) {
  STANDIN_MAY_REFUSE();
  return munmap(pointer(address), bytes);
}
int cuMemMap(unsigned long long address, size_t bytes, size_t offset, unsigned long long handle, unsigned long long) {
  STANDIN_MAY_REFUSE();
  const std::lock_guard lock(mutex);
  const auto found = blocks.find(handle);
  if (found == blocks.end() || found->second.handles == 0 || offset != 0 || bytes > found->second.bytes ||
      mappings.count(address) != 0)
    return kInvalid;
  const unsigned long long from = (handle + kPage - 1) / kPage * kPage;
  if (!found->second.memory->showAt(pointer(address), pointer(from), bytes))
    return kInvalid;
  ++found->second.mappings;
  mappings[address] = {bytes, handle};
  return 0;
}
int cuMemSetAccess(unsigned long long, size_t, const void *, size_t) { return 0; }
// Unmaps only whole mappings.
int cuMemUnmap(unsigned long long address, size_t bytes) {
  STANDIN_MAY_REFUSE();
  const std::lock_guard lock(mutex);
  const auto first = mappings.find(address), last = mappings.lower_bound(address + bytes);
  if (first == mappings.end() || std::prev(last)->first + std::prev(last)->second.bytes != address + bytes)
    return kInvalid;
  for (auto mapping = first; mapping != last; mapping = mappings.erase(mapping)) {
    --blocks.at(mapping->second.handle).mappings;
    endIfUnused(mapping->second.handle);
  }
  mmap(pointer(address), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  return 0;
}
int cuArrayCreate_v2(void **array, const Array *given) {
  STANDIN_MAY_REFUSE();
  return allocateArray(array, given->width * given->height);
}
int cuArray3DCreate_v2(void **array, const Array3D *given) {
  STANDIN_MAY_REFUSE();
  return allocateArray(array, given->width);
}
int cuMipmappedArrayCreate(void **array, const Array3D *given, unsigned) {
  STANDIN_MAY_REFUSE();
  return allocateArray(array, given->width);
}
int cuArrayDestroy(void *array) {
  STANDIN_MAY_REFUSE();
  return release(array);
}
int cuMipmappedArrayDestroy(void *array) {
  STANDIN_MAY_REFUSE();
  return release(array);
}
int cuMemHostRegister_v2(void *block, size_t, unsigned) {
  STANDIN_MAY_REFUSE();
  return machine().locked().add(block) ? 0 : kLocked;
}
int cuMemHostUnregister(void *block) {
  STANDIN_MAY_REFUSE();
  return machine().locked().remove(block) ? 0 : kNotLocked;
}
int cuGraphLaunch(void *graph, void *) {
  STANDIN_MAY_REFUSE();
  return graph != nullptr ? 0 : kInvalid;
}
int cuGraphLaunch_ptsz(void *graph, void *) {
  STANDIN_MAY_REFUSE();
  return graph != nullptr ? 0 : kInvalid;
}
int cudaGraphLaunch(void *graph, void *stream) {
  STANDIN_MAY_REFUSE();
  return cuGraphLaunch(graph, stream);
}
int cudaGraphLaunch_ptsz(void *graph, void *stream) {
  STANDIN_MAY_REFUSE();
  return cuGraphLaunch(graph, stream);
}
}
