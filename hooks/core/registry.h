// The hooked functions of all libraries with hooks. A program gets to a hook by the symbol of the hooked function, by
// dlsym or by cuGetProcAddress. Which real function the hook calls depends on its caller (real_search.h).
#pragma once

#include "msleaks/abi/hook.h"

#include <dlfcn.h>

namespace msleaks::hooks {

// Returns the hooked function of this name, or null. If several libraries hook it, returns the newest library's.
hook::Function *findFunction(const char *name) noexcept;

// Returns the function of this name that has this hook, or null. If several libraries hook one function, the hook of
// one library calls the hook of the next.
hook::Function *functionOfHook(const char *name, const void *hook) noexcept;

// The code at `caller` has looked up this name and found `real`. Returns the hook that the code gets instead, which
// will call `real`. Null: the code gets `real`. This is so if there is no hook, or if the code is in a library that
// defines the function itself. It is also so if the hook already calls another version for look-ups. Then a note in the
// report says so.
void *hookOf(const char *name, void *real, const void *caller) noexcept;

// Like hookOf, for a look-up that found the hook itself: whether the hook will call `real`.
bool leadsTo(hook::Function &function, void *real, const void *caller) noexcept;

// Returns the function that the caller's image is bound to, even if it is not in the global scope; null: none.
void *realInScopeOf(const hook::Function &function, const void *caller) noexcept;

// Whether some library defines the real function of this hook.
bool hasReal(hook::Function &function) noexcept;

// Returns the real function for a call that msleaks itself makes. If several libraries define the function, returns the
// one in the library that the thread's last hooked call went to. Null: there is none.
void *realOf(hook::Function &function) noexcept;

// Whether this is a function of the C library. All callers have the same real function, which is found when this
// library is loaded.
bool isOfLibc(const hook::Function &function) noexcept;

// Whether the hook asks for the real function at each call. A hook that was built with the first version of
// msleaks/hook.h asks only once.
bool asksForCallers(const hook::Function &function) noexcept;

// Call this after libraries were unloaded. Each real function is then looked up again at its next call. Functions of
// libc are kept: libc stays loaded, and its functions may be called where a look-up is not allowed (host/look_up.cpp).
void forgetReal() noexcept;

// Calls dlsym of the next library, not the hook of dlsym.
void *lookUp(void *handle, const char *name) noexcept;

// Stores the next library's function of this name; null if there is none.
template <class Function> void findNext(Function &function, const char *name) noexcept {
  function = reinterpret_cast<Function>(lookUp(RTLD_NEXT, name));
}

} // namespace msleaks::hooks
