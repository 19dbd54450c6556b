#include "core/registry.h"

#include "core/loaded_image.h"
#include "core/real_bindings.h"

#include "msleaks/runtime/note.h"

#include <atomic>
#include <cstdio>
#include <dlfcn.h>

namespace msleaks::hooks {
namespace {

constinit hook::Library *libraries = nullptr; // newest first; never removed

// All functions with a hook, by name. If several libraries hook one name, this table has the newest library's function.
constexpr uint32_t kNames = 4096;
constinit std::atomic<hook::Function *> by_name[kNames] = {};

// A library that was built with a later version has larger structs (Library::function_bytes).
hook::Function *next(const hook::Library &library, hook::Function *function) noexcept {
  return reinterpret_cast<hook::Function *>(reinterpret_cast<char *>(function) + library.function_bytes);
}
template <class Use> void forEachFunction(const hook::Library &library, Use use) noexcept {
  for (hook::Function *function = library.begin; function != library.end; function = next(library, function))
    use(*function);
}

void index(hook::Function &function) noexcept {
  uint32_t slot = SymbolName(function.name).gnu_hash % kNames;
  for (uint32_t i = 0; i < kNames; ++i, slot = (slot + 1) % kNames) {
    hook::Function *found = by_name[slot].load(std::memory_order_acquire);
    if (found == nullptr && by_name[slot].compare_exchange_strong(found, &function))
      return;
    if (isSameText(found->name, function.name))
      return by_name[slot].store(&function, std::memory_order_release);
  }
}

void noteRefused(const hook::Library &library) noexcept {
  Dl_info place{};
  ::dladdr(&library, &place);
  char note[1024];
  std::snprintf(note, sizeof note, "%s: hooks for version %u of msleaks, this is version %u: they record nothing",
                place.dli_fname != nullptr ? place.dli_fname : "?", library.version, hook::kHookVersion);
  __msl_note(note);
}

} // namespace

hook::Function *findFunction(const char *name) noexcept {
  uint32_t slot = SymbolName(name).gnu_hash % kNames;
  for (uint32_t i = 0; i < kNames; ++i, slot = (slot + 1) % kNames) {
    hook::Function *function = by_name[slot].load(std::memory_order_acquire);
    if (function == nullptr || isSameText(function->name, name))
      return function;
  }
  return nullptr;
}

hook::Function *functionOfHook(const char *name, const void *hook) noexcept {
  hook::Function *found = nullptr;
  for (const hook::Library *library = __atomic_load_n(&libraries, __ATOMIC_ACQUIRE); library != nullptr && hook != nullptr;
       library = library->next)
    forEachFunction(*library, [&](hook::Function &function) {
      if (function.hook == hook && isSameText(function.name, name))
        found = &function;
    });
  return found;
}

bool isOfLibc(const hook::Function &function) noexcept { return isSameText(function.library, "libc"); }

bool asksForCallers(const hook::Function &function) noexcept {
  for (const hook::Library *library = __atomic_load_n(&libraries, __ATOMIC_ACQUIRE); library != nullptr;
       library = library->next)
    if (&function >= library->begin && &function < library->end)
      return (library->abilities & hook::kAsksForCallers) != 0;
  return true; // a function of this library that is in no table
}

void forgetReal() noexcept {
  for (hook::Library *library = __atomic_load_n(&libraries, __ATOMIC_ACQUIRE); library != nullptr;
       library = library->next)
    forEachFunction(*library, [](hook::Function &function) {
      if (!isOfLibc(function))
        __atomic_store_n(&function.real, nullptr, __ATOMIC_RELEASE);
    });
  forgetUnloaded();
}

} // namespace msleaks::hooks

using namespace msleaks;

void __msl_hook_register(hook::Library *library) noexcept {
  if (library->version != hook::kHookVersion || library->function_bytes < sizeof(hook::Function)) {
    library->state = hook::kRefused;
    return hooks::noteRefused(*library);
  }
  hook::Library *before = __atomic_load_n(&hooks::libraries, __ATOMIC_ACQUIRE);
  do
    library->next = before;
  while (!__atomic_compare_exchange_n(&hooks::libraries, &before, library, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
  hooks::forEachFunction(*library, [](hook::Function &function) {
    if (function.hook != nullptr)
      hooks::index(function);
  });
  library->state = hook::kAccepted;
}
