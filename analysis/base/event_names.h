// The kinds of events as users write them: "alloc-failed", and "AllocFailed" as events.def and the dump have it.
#pragma once

#include "analysis/base/result.h"
#include "msleaks/abi/events.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace msleaks::analysis::inline base {

// "alloc, free, …": every one.
std::string eventNames();
// "alloc,free" -> their abi::enabledBit. Fails on another word, and when none is named; `option` is whose value it is.
Result<uint32_t> eventBits(std::string_view option, std::string_view list);

} // namespace msleaks::analysis::inline base
