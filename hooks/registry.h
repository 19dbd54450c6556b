// The hooked functions of all libraries with hooks. Three ways lead to a hook: the symbol that it interposes, dlsym,
// and cuGetProcAddress. Which real function a hook calls depends on who calls it (real_search.h).
#pragma once

#include "msleaks/abi/hook.h"

#include <dlfcn.h>

namespace msleaks::hooks {

// The function whose hook is found under this name, or null.
hook::Function *findFunction(const char *name) noexcept;

// The function of this name with just this hook, or null: libraries with hooks of one function stand one behind
// another.
hook::Function *functionOfHook(const char *name, const void *hook) noexcept;

// Somebody has looked `real` up under this name, from the code at `caller`: the hook that he gets instead, which will
// call just this function. Null: he gets `real` itself, because no hook stands before it, or because it stands before
// another version for somebody else already, which a note of the report says.
void *hookOf(const char *name, void *real, const void *caller) noexcept;

// As hookOf, for a look-up that found the hook itself: whether the hook will call `real`.
bool leadsTo(hook::Function &function, void *real, const void *caller) noexcept;

// The function that the caller's image is bound to beyond images opened with RTLD_GLOBAL; null: none.
void *realInScopeOf(const hook::Function &function, const void *caller) noexcept;

// Whether some library has the function that this hook stands before.
bool hasReal(hook::Function &function) noexcept;

// The real function of one that only we call, or of a hook that has not been called: in the library that the thread's
// last hooked call went to, where there are several. Null: there is none.
void *realOf(hook::Function &function) noexcept;

// Functions of the C library: everybody has the same, found when this library is loaded.
bool isOfLibc(const hook::Function &function) noexcept;

// Whether its hook asks for each caller's real function. One of the first version of msleaks/hook.h asks once.
bool asksForCallers(const hook::Function &function) noexcept;

// Libraries were unloaded: each real function is looked up again at its next call. Not libc's, which stays, and may be
// called where nobody may look anything up (look_up.cpp).
void forgetReal() noexcept;

// dlsym as the next library defines it, and not the hook.
void *lookUp(void *handle, const char *name) noexcept;

// The function of this name behind our own; null where there is none.
template <class Function> void findNext(Function &function, const char *name) noexcept {
  function = reinterpret_cast<Function>(lookUp(RTLD_NEXT, name));
}

} // namespace msleaks::hooks
