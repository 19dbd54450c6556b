#include "registry.h"

#include "msleaks/runtime/note.h"
#include "msleaks/runtime/thread.h"

#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <link.h>

namespace msleaks::hooks {
namespace {

constinit hook::Library *libraries = nullptr; // newest first; never taken off

// Not strcmp: a sanitizer of the program interposes that, and its first call asks dlsym, which would end here again.
bool isSame(const char *left, const char *right) noexcept {
  for (; *left != 0 && *left == *right; ++left)
    ++right;
  return *left == *right;
}

// One of the names in Function::library.
struct Search {
  const char *name;
  size_t length;
  char path[512];
};

const char *fileName(const char *path) noexcept {
  const char *slash = std::strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

int takePath(dl_phdr_info *object, size_t, void *argument) {
  auto &search = *static_cast<Search *>(argument);
  const char *file = fileName(object->dlpi_name);
  // "libcuda" is libcuda.so.1, not libcudart.so.
  if (std::strncmp(file, search.name, search.length) != 0 || file[search.length] != '.' ||
      std::strlen(object->dlpi_name) >= sizeof search.path)
    return 0;
  std::strcpy(search.path, object->dlpi_name);
  return 1;
}

// In the library of this name, whoever opened it and with whatever scope; or in one that it needs.
void *findIn(Search &search, const hook::Function &function) noexcept {
  if (::dl_iterate_phdr(takePath, &search) == 0)
    return nullptr;
  void *handle = ::dlopen(search.path, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr)
    return nullptr;
  void *real = lookUp(handle, function.name);
  ::dlclose(handle); // whoever opened it still holds it
  return real != function.hook ? real : nullptr;
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
  for (const hook::Library *library = __atomic_load_n(&libraries, __ATOMIC_ACQUIRE); library != nullptr;
       library = library->next)
    for (hook::Function *function = library->begin; function != library->end; ++function)
      if (function->hook != nullptr && isSame(function->name, name))
        return function;
  return nullptr;
}

void *realOf(hook::Function &function) noexcept {
  void *known = __atomic_load_n(&function.real, __ATOMIC_ACQUIRE);
  return known != nullptr ? known : __msl_hook_find(&function);
}

void forgetReal() noexcept {
  for (hook::Library *library = __atomic_load_n(&libraries, __ATOMIC_ACQUIRE); library != nullptr;
       library = library->next)
    for (hook::Function *function = library->begin; function != library->end; ++function)
      if (!isSame(function->library, "libc"))
        __atomic_store_n(&function->real, nullptr, __ATOMIC_RELEASE);
}

void *hookOf(const char *name, void *real) noexcept {
  hook::Function *function = findFunction(name);
  if (function == nullptr || real == nullptr || real == function->hook)
    return nullptr;
  void *known = nullptr;
  __atomic_compare_exchange_n(&function->real, &known, real, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  return known == nullptr || known == real ? function->hook : nullptr;
}

} // namespace msleaks::hooks

using namespace msleaks;

void __msl_hook_register(hook::Library *library) noexcept {
  if (library->version != hook::kHookVersion || library->function_bytes != sizeof(hook::Function)) {
    library->state = hook::kRefused;
    return hooks::noteRefused(*library);
  }
  hook::Library *before = __atomic_load_n(&hooks::libraries, __ATOMIC_ACQUIRE);
  do
    library->next = before;
  while (!__atomic_compare_exchange_n(&hooks::libraries, &before, library, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
  library->state = hook::kAccepted;
}

void *__msl_hook_find(const hook::Function *function) noexcept {
  const runtime::Inside inside(__msl_thread);
  for (const char *name = function->library;; ++name) {
    const size_t length = std::strcspn(name, "|");
    hooks::Search search{name, length, {}};
    if (void *real = hooks::findIn(search, *function))
      return real;
    name += length;
    if (*name == 0)
      return nullptr;
  }
}
