// Looks up the real function behind a hook, in tests where the hooks are linked instead of preloaded. A sanitizer calls
// dlsym, and other hooked functions of libc, before it can run instrumented code. So sanitized hooks are not preloaded.
#include "core/registry.h"

#include <dlfcn.h>

namespace msleaks::hooks {

void *lookUp(void *handle, const char *name) noexcept { return ::dlsym(handle, name); }

} // namespace msleaks::hooks
