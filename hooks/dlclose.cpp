// dlclose: where a library was, another one may be loaded next, and the same return address belongs to another function
// then.
#include "registry.h"

#include "msleaks/runtime/caller.h"

#include <atomic>
#include <dlfcn.h>

using namespace msleaks;

namespace {
using Close = int (*)(void *);
}

extern "C" [[gnu::visibility("default")]] int dlclose(void *handle) {
  static constinit std::atomic<Close> known{nullptr};
  Close next = known.load(std::memory_order_relaxed);
  if (next == nullptr) {
    next = reinterpret_cast<Close>(hooks::lookUp(RTLD_NEXT, "dlclose"));
    known.store(next, std::memory_order_relaxed);
  }
  if (next == nullptr)
    return -1;
  __msl_unloading();
  const int status = next(handle);
  __msl_unloaded();
  return status;
}
