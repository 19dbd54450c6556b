// Hook of dlclose. Another library may be loaded at the address of the old one. Then a return address belongs to
// another function. Functions that were looked up in the old library do not exist any more, or come back at other
// addresses.
#include "core/registry.h"

#include "msleaks/runtime/caller.h"

#include <atomic>
#include <dlfcn.h>
#include <link.h>

using namespace msleaks;

namespace {
using Close = int (*)(void *);

// Returns how many libraries were unloaded since the process began.
unsigned long long countUnloaded() {
  unsigned long long count = 0;
  const auto take = [](dl_phdr_info *library, size_t, void *to) {
    *static_cast<unsigned long long *>(to) = library->dlpi_subs;
    return 1;
  };
  ::dl_iterate_phdr(take, &count);
  return count;
}

} // namespace

extern "C" [[gnu::visibility("default")]] int dlclose(void *handle) {
  static constinit std::atomic<Close> known{nullptr};
  Close next = known.load(std::memory_order_relaxed);
  if (next == nullptr) {
    next = reinterpret_cast<Close>(hooks::lookUp(RTLD_NEXT, "dlclose"));
    known.store(next, std::memory_order_relaxed);
  }
  if (next == nullptr)
    return -1;
  const auto unloaded = countUnloaded();
  __msl_unloading();
  const int status = next(handle);
  __msl_unloaded();
  if (countUnloaded() != unloaded)
    hooks::forgetReal();
  return status;
}
