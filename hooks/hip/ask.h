// Asks HIP. Until version 7, each call of HIP sets the result of hipGetLastError, also to success.
#pragma once

#include "devices/device.h"

namespace msleaks::hooks::hip {

extern const LastError kLast;

// Calls a function of HIP, and leaves the error that HIP keeps for the program.
template <class Signature, class... Arguments> int32_t ask(hook::Function &function, Arguments... arguments) {
  return leavingLastError(kLast, [&] { return callReal<Signature>(function, arguments...); });
}

} // namespace msleaks::hooks::hip
