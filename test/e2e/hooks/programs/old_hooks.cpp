// Imitates hooks that were built with the first version of msleaks. These hooks look up the real function once, so all
// callers get the function that this look-up finds. Later versions look up the function for each caller.
#include "msleaks/abi/hook.h"

#include <cstddef>
#include <dlfcn.h>

using msleaks::hook::Function;

extern "C" {
[[gnu::visibility("hidden")]] int old_malloc(void **block, size_t bytes);
[[gnu::visibility("hidden")]] int old_free(void *block);
[[gnu::visibility("default"), gnu::alias("old_malloc")]] int cudaMalloc(void **block, size_t bytes);
[[gnu::visibility("default"), gnu::alias("old_free")]] int cudaFree(void *block);
}

static Function functions[] = {{"libcudart", "cudaMalloc", reinterpret_cast<void *>(old_malloc), nullptr},
                               {"libcudart", "cudaFree", reinterpret_cast<void *>(old_free), nullptr}};

template <class Real> static Real realOf(Function &function) {
  if (function.real == nullptr)
    function.real = dlsym(RTLD_NEXT, function.name);
  if (function.real == nullptr && __msl_hook_find != nullptr)
    function.real = __msl_hook_find(&function);
  return reinterpret_cast<Real>(function.real);
}
int old_malloc(void **block, size_t bytes) {
  auto *const real = realOf<decltype(&old_malloc)>(functions[0]);
  return real != nullptr ? real(block, bytes) : -1;
}
int old_free(void *block) {
  auto *const real = realOf<decltype(&old_free)>(functions[1]);
  return real != nullptr ? real(block) : -1;
}

[[gnu::constructor]] static void registerIt() {
  static msleaks::hook::Library library = {
      msleaks::hook::kHookVersion, sizeof(Function), functions, functions + 2, nullptr, msleaks::hook::kUnknown, 0};
  if (__msl_hook_register != nullptr)
    __msl_hook_register(&library);
}
