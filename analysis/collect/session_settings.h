// `set NAME=VALUE` of a running session: the options of msleaks-run, without their dashes.
#pragma once

#include "analysis/base/result.h"
#include "msleaks/abi/session.h"

#include <string_view>

namespace msleaks::analysis::inline collect {

// Usage: no such name or value. OwnFault: not while the session runs. `events` is not among them (RecordingSwitch).
Result<void> changeSetting(abi::ControlPage &, std::string_view name, std::string_view value);

} // namespace msleaks::analysis::inline collect
