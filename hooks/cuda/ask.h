// Asks CUDA's driver if the process has it, because the driver does not change the result of cudaGetLastError.
// Otherwise asks CUDA's runtime library.
#pragma once

#include "devices/device.h"

namespace msleaks::hooks::cuda {

extern const LastError kLast;

// A function that the driver and the runtime library have with the same parameters.
struct Both {
  hook::Function &of_driver, &of_runtime;
};
template <class Signature, class... Arguments> int32_t ask(const Both &both, Arguments... arguments) {
  const int32_t status = callReal<Signature>(both.of_driver, arguments...);
  if (status != kNone)
    return status;
  return leavingLastError(kLast, [&] { return callReal<Signature>(both.of_runtime, arguments...); });
}

} // namespace msleaks::hooks::cuda
