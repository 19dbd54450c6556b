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
// The same, without kernel evidence.
std::string recordedEventNames();
// Exact choices of kinds: a bit for each kind.
inline constexpr uint64_t kEveryKind = UINT64_MAX;
constexpr uint64_t kindBit(abi::EventKind kind) { return uint64_t{1} << static_cast<uint8_t>(kind); }
// "alloc,free" -> kindBit of each. Fails on an unknown name or an empty list. `option` is named in the error.
Result<uint64_t> kindBits(std::string_view option, std::string_view list);
// The same as abi::enabledBit of each, for the events that the program records. Refuses kernel evidence, which --kernel
// chooses.
Result<uint32_t> eventBits(std::string_view option, std::string_view list);

} // namespace msleaks::analysis::inline base
