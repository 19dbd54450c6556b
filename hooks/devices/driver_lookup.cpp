// Hooks of cuGetProcAddress and hipGetProcAddress, by which the runtime library and other libraries get the driver's
// functions. Callers pass a name without the version that the driver's symbol has: cuMemAlloc for cuMemAlloc_v2.
#include "core/real_search.h"
#include "core/registry.h"
#include "core/rows.h"

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

constexpr auto kLookUp = [](auto real, void *caller, const char *name, void **function, auto... more) {
  const int status = real(name, function, more...);
  if (status == 0 && name != nullptr && function != nullptr && *function != nullptr)
    *function = orHook(name, *function, reinterpret_cast<const void *>(real), caller);
  return status;
};

} // namespace

using CUresult = int;
using hipError_t = int;
#define MSL_PART_LOOK_UPS
#include "msleaks/abi/functions/cuda.def"
#include "msleaks/abi/functions/hip.def"
