// The hooked functions of all libraries with hooks, and where their real ones are. Three ways lead to a hook: the
// symbol that it interposes, dlsym, and cuGetProcAddress; each stands in front of one real function only.
#pragma once

#include "msleaks/abi/hook.h"

namespace msleaks::hooks {

// The hook that stands in front of `real`, which somebody found under this name; null = none does.
void *hookOf(const char *name, void *real) noexcept;

// The function whose hook is found under this name, or null.
hook::Function *findFunction(const char *name) noexcept;

// The real function, or null. A hook of another library looks behind itself, which only it can do.
void *realOf(hook::Function &function) noexcept;

// Libraries were unloaded: each real function is looked up again at its next call. Not libc's, which stays, and may be
// called where nobody may look anything up (look_up.cpp).
void forgetReal() noexcept;

// dlsym as the next library defines it, and not the hook.
void *lookUp(void *handle, const char *name) noexcept;

} // namespace msleaks::hooks
