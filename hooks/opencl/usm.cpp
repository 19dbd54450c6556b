// Hooks of OpenCL's extension cl_intel_unified_shared_memory. It allocates memory of the host, of a device, or of both,
// and a program uses the addresses as they are. No library exports functions of extensions: a program asks OpenCL for
// their addresses, and gets the hooks. opencl/counted_copies.cpp hooks the function that passes memory to a kernel.
#include "core/registry.h"
#include "opencl/calls.h"

using namespace msleaks;
using namespace msleaks::hooks::cl;

namespace {

template <abi::Heap kHeap, int kSize> struct Take {
  static constexpr abi::Symbol kRow = {.name = "clHostMemAllocINTEL",
                                       .verb = abi::Verb::Alloc,
                                       .family = abi::Family::OpenCl,
                                       .heap = kHeap,
                                       .result = {abi::ResultKind::Return, {}},
                                       .size = abi::Position(kSize)};
};
using TakeHost = Take<abi::Heap::Pinned, 2>;
using TakeDevice = Take<abi::Heap::Device, 3>;
using TakeShared = Take<abi::Heap::Managed, 3>;
// Frees a block of any of the three heaps. A driver may have allocated it by malloc. Then free() ends the block, and
// this row must not count as a free of nothing: the heap is Managed for this reason.
struct Give {
  static constexpr abi::Symbol kRow = {.name = "clMemFreeINTEL",
                                       .verb = abi::Verb::Free,
                                       .family = abi::Family::OpenCl,
                                       .heap = abi::Heap::Managed,
                                       .address = abi::Position(1),
                                       .status = true};
};
using Copy = hook::Known<"clEnqueueSVMMemcpy">; // the parameters are the same
using Fill = hook::Known<"clEnqueueSVMMemFill">;

void *orHook(Text name, void *found, const void *caller) {
  void *const instead = name != nullptr ? hooks::hookOf(name, found, caller) : nullptr;
  return instead != nullptr ? instead : found;
}
constexpr auto kAddress = [](auto real, void *caller, Text name) { return orHook(name, real(name), caller); };
constexpr auto kAddressOfPlatform = [](auto real, void *caller, void *platform, Text name) {
  return orHook(name, real(platform, name), caller);
};

} // namespace

#define MSL_PART_USM
#include "msleaks/abi/functions/opencl.def"
