// Returns the Pages events of a look.
#pragma once

#include "msleaks/abi/events.h"

#include <vector>

namespace msleaks::test {

inline std::vector<abi::PagesEvent> eventsIn(const std::vector<abi::Slot> &slots) {
  std::vector<abi::PagesEvent> events;
  for (size_t i = 0; i + 1 < slots.size(); i += 2)
    events.push_back(abi::AnyEvent{{slots[i], slots[i + 1]}}.as<abi::PagesEvent>());
  return events;
}

} // namespace msleaks::test
