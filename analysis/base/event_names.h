// The names of the kinds of events: users write "alloc-failed", and events.def and the dump contain "AllocFailed".
#pragma once

#include "analysis/base/result.h"
#include "msleaks/abi/events.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace msleaks::analysis::inline base {

// Lists all names: "alloc, free, …".
std::string eventNames();
// "alloc,free" -> abi::enabledBit of each. Fails on an unknown name or an empty list. `option` is named in the error.
Result<uint32_t> eventBits(std::string_view option, std::string_view list);

} // namespace msleaks::analysis::inline base
