#include "host/real.h"

#include <dlfcn.h>

namespace msleaks::hooks {

const void *imageOf(const void *address, const char **path) noexcept {
  Dl_info place;
  if (address == nullptr || ::dladdr(address, &place) == 0)
    return nullptr;
  if (path != nullptr)
    *path = place.dli_fname;
  return place.dli_fbase;
}

} // namespace msleaks::hooks
