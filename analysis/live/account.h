// Memory that has a peak of its own.
#pragma once

#include "msleaks/abi/events.h"

#include <compare>
#include <cstdint>

namespace msleaks::analysis::inline live {

// A heap, of a device where it is a device's.
struct Account {
  abi::Heap heap = abi::Heap::Host;
  uint8_t device = 0;
  auto operator<=>(const Account &) const = default;
};

} // namespace msleaks::analysis::inline live
