// Hooks of HIP's functions that choose a context, and so the device of the thread (devices/contexts.h).
#include "devices/contexts.h"
#include "core/rows.h"
#include "hip/ask.h"
#include "hip/rows.h"

using namespace msleaks;

namespace {

MSL_ASKED(current, "libamdhip64", "hipGetDevice")

constexpr auto kDevice = [] {
  int device = 0;
  return hooks::hip::ask<int(int *)>(current, &device) == 0 ? device : -1;
};
constexpr auto kChanged = hooks::kContextChanged<abi::Family::Hip, kDevice>;

} // namespace

#define MSL_PART_CONTEXTS
#include "msleaks/abi/functions/hip.def"
