// Bodies of hooks that end all blocks of a device.
#pragma once

#include "msleaks/hook.h"

namespace msleaks::hooks {

// Resets the thread's device. A driver frees its blocks inside the call, which is no free by the program.
template <abi::Family kFamily, class Real> auto resetRecorded(Real real, void *caller) {
  constexpr uint32_t kTraits = abi::Traits(abi::Verb::Free, kFamily, abi::Heap::Device, abi::kFromHook).packed();
  hook::Call call{kTraits, hook::kPass, reinterpret_cast<uint64_t>(caller), 0, 0, 0};
  __msl_hook_begin(&call);
  const auto status = real();
  __msl_hook_end(&call);
  if (static_cast<int>(status) == 0 && __msl_hook_reset != nullptr)
    __msl_hook_reset(kTraits, call.caller);
  return status;
}
template <abi::Family kFamily>
inline constexpr auto kResetOfThread = [](auto real, void *caller) { return resetRecorded<kFamily>(real, caller); };
template <abi::Family kFamily>
inline constexpr auto kResetOf = [](auto real, void *caller, auto device) {
  const hook::WithDevice chosen(kFamily, static_cast<uint32_t>(device));
  return resetRecorded<kFamily>([=] { return real(device); }, caller);
};

} // namespace msleaks::hooks
