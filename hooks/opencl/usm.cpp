// Hooks of OpenCL's extension cl_intel_unified_shared_memory. It allocates memory of the host, of a device, or of both,
// and a program uses the addresses as they are. No library exports functions of extensions: a program asks OpenCL for
// their addresses, and gets the hooks. opencl/counted_copies.cpp hooks the function that passes memory to a kernel.
#include "core/registry.h"
#include "opencl/calls.h"

using namespace msleaks;
using namespace msleaks::hooks::cl;

namespace {

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
