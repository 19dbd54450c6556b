// Stands in for CUDA's driver, as far as it has physical memory of its own and launches graphs.
#include "../common/machine.h"

namespace {

standin::Machine &machine() {
  static auto *const made = new standin::Machine;
  return *made;
}

constexpr int kInvalid = 1, kOutOfMemory = 2;

struct Property {
  int type, handle_types, place, device;
};

} // namespace

extern "C" {
int cuMemCreate(unsigned long long *handle, size_t bytes, const Property *property, unsigned long long) {
  if (property == nullptr || property->device < 0 || property->device >= static_cast<int>(machine().count()))
    return kInvalid;
  auto *const block = machine().device(static_cast<unsigned>(property->device)).allocate(bytes);
  *handle = reinterpret_cast<unsigned long long>(block);
  return block != nullptr ? 0 : kOutOfMemory;
}
int cuMemRelease(unsigned long long handle) {
  return machine().release(reinterpret_cast<void *>(handle)) ? 0 : kInvalid;
}
int cuGraphLaunch(void *graph, void *) { return graph != nullptr ? 0 : kInvalid; }
int cudaGraphLaunch(void *graph, void *stream) { return cuGraphLaunch(graph, stream); }
}
