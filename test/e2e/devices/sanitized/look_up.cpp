// Only for the hooks of drivers, when a program is linked with the hooks instead of preloading them. A sanitizer calls
// dlsym, and other hooked functions of libc, before it can run instrumented code.
#include "registry.h"

#include <dlfcn.h>

namespace msleaks::hooks {

void *lookUp(void *handle, const char *name) noexcept { return ::dlsym(handle, name); }

} // namespace msleaks::hooks
