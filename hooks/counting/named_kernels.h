// The body of hooks of functions that return a module's kernel by its name. They record the name each time: after a
// module was unloaded, the driver may use a handle again for another kernel.
#pragma once

#include "counting/module_kernels.h"

#include "msleaks/hook.h"

namespace msleaks::hooks {

template <abi::Family kFamily, const KernelSource &kSource>
constexpr auto kNamedKernelOf = [](auto real, void *caller, auto *kernel, auto module, const char *name) {
  constexpr uint32_t kTraits = abi::Traits(abi::Verb::Kernel, kFamily, abi::Heap::Device, 0).packed();
  const auto status = kKernelOf<kSource>(real, caller, kernel, module, name);
  if (status == decltype(status)(0) && __msl_hook_kernel != nullptr)
    __msl_hook_kernel(kTraits, *kernel, name);
  return status;
};

} // namespace msleaks::hooks
