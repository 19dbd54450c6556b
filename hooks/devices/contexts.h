// Bodies of hooks for calls that may change the thread's context. After such a call, the driver is asked for the
// device.
#pragma once

#include "msleaks/hook.h"

namespace msleaks::hooks {

// `kDeviceOf()` returns the number of the thread's device; -1: there is none, or it is not known now.
template <abi::Family kFamily, auto kDeviceOf> void noteDevice() {
  constexpr uint32_t kTraits = abi::Traits(abi::Verb::Device, kFamily, abi::Heap::Device, 0).packed();
  const int device = kDeviceOf();
  if (device >= 0 && __msl_hook_device != nullptr)
    __msl_hook_device(kTraits, static_cast<uint32_t>(device));
}
template <abi::Family kFamily, auto kDeviceOf>
inline constexpr auto kContextChanged = [](auto real, void *, auto... parameters) {
  const auto status = real(parameters...);
  noteDevice<kFamily, kDeviceOf>();
  return status;
};

} // namespace msleaks::hooks
