// For the hooks of drivers alone, which a program links with instead of having them preloaded: a sanitizer calls dlsym,
// and what else of libc is hooked, before it can run code that it has instrumented.
#include "registry.h"

#include <dlfcn.h>

namespace msleaks::hooks {

void *lookUp(void *handle, const char *name) noexcept { return ::dlsym(handle, name); }

} // namespace msleaks::hooks
