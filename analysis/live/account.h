// The accounts of memory: each of them has a peak of its own.
#pragma once

#include "msleaks/abi/events.h"

#include <compare>
#include <cstdint>

namespace msleaks::analysis::inline live {

// A heap. For memory of a device, the heap on one device.
struct Account {
  abi::Heap heap = abi::Heap::Host;
  uint8_t device = 0;
  auto operator<=>(const Account &) const = default;
};

} // namespace msleaks::analysis::inline live
