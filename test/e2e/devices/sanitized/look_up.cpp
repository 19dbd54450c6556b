// Only for the hooks of drivers, which a program links with instead of having them preloaded. A sanitizer calls dlsym,
// and other hooked functions of libc, before it can run code that it has instrumented.
#include "registry.h"

#include <dlfcn.h>

namespace msleaks::hooks {

void *lookUp(void *handle, const char *name) noexcept { return ::dlsym(handle, name); }

} // namespace msleaks::hooks
