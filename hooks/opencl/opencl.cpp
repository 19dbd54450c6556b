// Hooks of OpenCL's functions whose rows say everything, and of those that make buffers.
#include "opencl/calls.h"

using namespace msleaks;
using namespace msleaks::hooks::cl;

namespace {

// A buffer that uses the program's host memory has no memory of its own.
template <hook::Name kName, int kFlagsAt>
constexpr auto kBuffer = [](auto real, void *caller, auto... parameters) {
  constexpr Bits kUsesHostMemory = 1 << 3; // CL_MEM_USE_HOST_PTR
  using OfRow = hook::Known<kName>;
  const auto create = [real](decltype(parameters)... given) {
    const Bits flags = hook::Arguments<decltype(given)...>(given...).template word<kFlagsAt>();
    if ((flags & kUsesHostMemory) != 0 && __msl_hook_flags != nullptr)
      __msl_hook_flags(hook::Callbacks<OfRow, hook::Arguments<decltype(given)...>>::kTraits, abi::kReserve);
    return real(given...);
  };
  return hook::callRecorded<OfRow>(create, caller, parameters...);
};
constexpr auto kPlainBuffer = kBuffer<"clCreateBuffer", 1>;
constexpr auto kBufferWithProperties = kBuffer<"clCreateBufferWithProperties", 2>;

} // namespace

#define MSL_PART_PLAIN
#include "msleaks/abi/functions/opencl.def"
