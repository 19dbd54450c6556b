// Hooks of cuGetProcAddress and hipGetProcAddress, by which the runtime library and other libraries get the driver's
// functions. Callers pass a name without the version that the driver's symbol has: cuMemAlloc for cuMemAlloc_v2.
#include "core/real_search.h"
#include "core/registry.h"

#include "msleaks/hook.h"

#include <cstring>

using namespace msleaks;

namespace {

constexpr const char *kEndings[] = {"", "_v2", "_v3", "_v4", "_ptds", "_ptsz", "_v2_ptds", "_v2_ptsz", "_spt"};

// Returns the function that the driver gave for a name, or the hook of this function. The driver may return the hook
// itself, because the name of the function is bound to the hook in the driver, too.
void *orHook(const char *name, void *given, const void *driver, const void *caller) noexcept {
  char symbol[128];
  const size_t length = std::strlen(name);
  for (const char *ending : kEndings) {
    if (length + std::strlen(ending) >= sizeof symbol)
      continue;
    ::stpcpy(::stpcpy(symbol, name), ending);
    hook::Function *const function = hooks::findFunction(symbol);
    if (function == nullptr)
      continue;
    const bool is_hook = function->hook == given;
    void *const real = hooks::definitionBeside(is_hook ? driver : given, symbol);
    if (real == nullptr || (!is_hook && real != given))
      continue;
    return hooks::leadsTo(*function, real, caller) ? function->hook : real;
  }
  return given;
}

int afterAnswer(int status, const char *name, void **function, const void *driver, const void *caller) noexcept {
  if (status == 0 && name != nullptr && function != nullptr && *function != nullptr)
    *function = orHook(name, *function, driver, caller);
  return status;
}

} // namespace

// These hooks are registered like any other hook, but have no row in symbols.def.
#define MSL_PROC_ADDRESS(library, name, parameters, arguments)                                                         \
  extern "C" [[gnu::visibility("default")]] int name parameters;                                                       \
  [[gnu::used, gnu::section("msl_hooks")]] static hook::Function function_##name = {                                   \
      #library, #name, reinterpret_cast<void *>(&name), nullptr};                                                      \
  extern "C" int name parameters {                                                                                     \
    const void *const caller = __builtin_return_address(0);                                                            \
    auto *real = reinterpret_cast<decltype(&name)>(hook::realOf(function_##name, caller));                             \
    if (real == nullptr)                                                                                               \
      return hook::missing<hook::NoRow, int>(function_##name);                                                         \
    return afterAnswer(real arguments, symbol, function, reinterpret_cast<const void *>(real), caller);                \
  }

MSL_PROC_ADDRESS(libcuda, cuGetProcAddress, (const char *symbol, void **function, int version, uint64_t flags),
                 (symbol, function, version, flags))
MSL_PROC_ADDRESS(libcuda, cuGetProcAddress_v2,
                 (const char *symbol, void **function, int version, uint64_t flags, void *outcome),
                 (symbol, function, version, flags, outcome))
MSL_PROC_ADDRESS(libamdhip64, hipGetProcAddress,
                 (const char *symbol, void **function, int version, uint64_t flags, void *outcome),
                 (symbol, function, version, flags, outcome))
