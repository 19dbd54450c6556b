// For the hooks of drivers alone, which a program links with instead of having them preloaded: a sanitizer calls dlsym,
// and what else of libc is hooked, before it can run code that it has instrumented.
#include "real.h"
#include "registry.h"

#include <dlfcn.h>

namespace msleaks::hooks {

void *lookUp(void *handle, const char *name) noexcept { return ::dlsym(handle, name); }

const void *imageOf(const void *address, const char **path) noexcept {
  Dl_info place;
  if (address == nullptr || ::dladdr(address, &place) == 0)
    return nullptr;
  if (path != nullptr)
    *path = place.dli_fname;
  return place.dli_fbase;
}

} // namespace msleaks::hooks
