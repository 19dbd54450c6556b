// Imitates CUDA's driver: memory of another process, or of another driver. The first two words of a handle are the
// number of the memory and its size.
#include "../common/machine.h"
#include "../common/refusal.h"

#include <cerrno>
#include <cstring>

namespace {

standin::Machine &machine() {
  static auto *const made = new standin::Machine;
  return *made;
}

constexpr int kInvalid = 1, kOutOfMemory = 2;

struct Handle {
  char reserved[64];
};
struct Opened {
  size_t number, bytes;
  unsigned owners;
};
std::mutex mutex;
auto &opened = *new std::map<unsigned long long, Opened>; // by address

struct Buffer {
  unsigned long long offset, size;
};
struct ArrayOfMemory {
  unsigned long long offset;
  size_t width, height, depth;
  int format;
  unsigned channels, flags, padding, levels;
};

int allocate(unsigned long long *address, size_t bytes) {
  *address = reinterpret_cast<unsigned long long>(machine().device(0).allocate(bytes));
  return *address != 0 ? 0 : kOutOfMemory;
}

} // namespace

extern "C" {
// If the memory is open already, returns the same address.
int cuIpcOpenMemHandle_v2(unsigned long long *address, Handle handle, unsigned) {
  STANDIN_MAY_REFUSE();
  size_t words[2];
  std::memcpy(words, handle.reserved, sizeof words);
  const std::lock_guard lock(mutex);
  for (auto &[at, memory] : opened)
    if (memory.number == words[0]) {
      ++memory.owners;
      *address = at;
      return 0;
    }
  if (words[1] == 0)
    return kInvalid;
  const int status = allocate(address, words[1]);
  if (status == 0)
    opened[*address] = {words[0], words[1], 1};
  return status;
}
int cuIpcCloseMemHandle(unsigned long long address) {
  STANDIN_MAY_REFUSE();
  const std::lock_guard lock(mutex);
  const auto found = opened.find(address);
  if (found == opened.end())
    return kInvalid;
  if (--found->second.owners == 0) {
    machine().release(reinterpret_cast<void *>(address));
    opened.erase(found);
  }
  return 0;
}
int cuMemGetAddressRange_v2(unsigned long long *begin, size_t *bytes, unsigned long long address) {
  errno = EXDEV;
  const std::lock_guard lock(mutex);
  const auto found = opened.find(address);
  if (found == opened.end())
    return kInvalid;
  *begin = address;
  *bytes = found->second.bytes;
  return 0;
}
int cuMemPoolImportPointer(unsigned long long *address, void *, void *) {
  STANDIN_MAY_REFUSE();
  return allocate(address, 4096);
}
int cuExternalMemoryGetMappedBuffer(unsigned long long *address, void *, const Buffer *what) {
  STANDIN_MAY_REFUSE();
  return allocate(address, what->size);
}
int cuExternalMemoryGetMappedMipmappedArray(void **array, void *, const ArrayOfMemory *what) {
  STANDIN_MAY_REFUSE();
  unsigned long long address = 0;
  const int status = allocate(&address, 8 * what->width * what->height);
  *array = reinterpret_cast<void *>(address);
  return status;
}
int cuMipmappedArrayDestroy(void *array) { return machine().release(array) ? 0 : kInvalid; }
int cuMemFree_v2(unsigned long long address) {
  return machine().release(reinterpret_cast<void *>(address)) ? 0 : kInvalid;
}
}
