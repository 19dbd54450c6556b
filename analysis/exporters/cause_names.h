// The names of the causes by which blocks begin and end. Formats of blocks write them.
#pragma once

#include "analysis/live/live_set.h"

namespace msleaks::analysis::inline exporters {

constexpr const char *nameOf(AllocCause cause) {
  switch (cause) {
  case AllocCause::Allocated:
    return "allocated";
  case AllocCause::Reallocated:
    return "reallocated";
  case AllocCause::Restored:
    return "restored";
  case AllocCause::Remainder:
    return "remainder";
  default:
    return "was there";
  }
}

constexpr const char *nameOfEnd(FreeCause cause) {
  switch (cause) {
  case FreeCause::Freed:
    return "freed";
  case FreeCause::Reallocated:
    return "reallocated";
  case FreeCause::Replaced:
    return "replaced";
  case FreeCause::Remainder:
    return "remainder";
  case FreeCause::ProcessExited:
    return "process exited";
  case FreeCause::ProcessKilled:
    return "process killed";
  case FreeCause::ProcessExec:
    return "process replaced";
  default:
    return "still alive";
  }
}

} // namespace msleaks::analysis::inline exporters
