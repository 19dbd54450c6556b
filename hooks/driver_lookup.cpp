// cuGetProcAddress, hipGetProcAddress: the driver hands out its own functions, to the runtime library and to others
// that open it. It names a function without the version that the symbol has.
#include "registry.h"

#include "msleaks/hook.h"

#include <cstring>

using namespace msleaks;

namespace {

constexpr const char *kEndings[] = {"", "_v2", "_v3", "_v4", "_ptds", "_ptsz", "_v2_ptds", "_v2_ptsz", "_spt"};

// What the driver gave for a name, or the hook in front of just that.
void *orHook(const char *name, void *given) noexcept {
  char symbol[128];
  for (const char *ending : kEndings) {
    if (std::strlen(name) + std::strlen(ending) >= sizeof symbol)
      continue;
    std::strcpy(symbol, name);
    std::strcat(symbol, ending);
    if (hook::Function *function = hooks::findFunction(symbol);
        function != nullptr && hooks::realOf(*function) == given)
      return function->hook;
  }
  return given;
}

int afterAnswer(int status, const char *name, void **function) noexcept {
  if (status == 0 && name != nullptr && function != nullptr && *function != nullptr)
    *function = orHook(name, *function);
  return status;
}

} // namespace

// They are found like any hooked function; what they do has no row.
#define MSL_PROC_ADDRESS(library, name, parameters, arguments)                                                         \
  extern "C" [[gnu::visibility("default")]] int name parameters;                                                       \
  [[gnu::used, gnu::section("msl_hooks")]] static hook::Function function_##name = {                                   \
      #library, #name, reinterpret_cast<void *>(&name), nullptr};                                                      \
  extern "C" int name parameters {                                                                                     \
    auto *real = reinterpret_cast<decltype(&name)>(hook::realOf(function_##name));                                     \
    return real != nullptr ? afterAnswer(real arguments, symbol, function) : -1;                                       \
  }

MSL_PROC_ADDRESS(libcuda, cuGetProcAddress, (const char *symbol, void **function, int version, uint64_t flags),
                 (symbol, function, version, flags))
MSL_PROC_ADDRESS(libcuda, cuGetProcAddress_v2,
                 (const char *symbol, void **function, int version, uint64_t flags, void *outcome),
                 (symbol, function, version, flags, outcome))
MSL_PROC_ADDRESS(libamdhip64, hipGetProcAddress,
                 (const char *symbol, void **function, int version, uint64_t flags, void *outcome),
                 (symbol, function, version, flags, outcome))
