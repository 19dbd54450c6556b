// Changes a setting of a running session: `set NAME=VALUE`. The names are the options of msleaks-run without their
// dashes.
#pragma once

#include "analysis/base/result.h"
#include "msleaks/abi/session.h"

#include <string_view>

namespace msleaks::analysis::inline collect {

// An error: there is no such name or value (Usage), or it cannot change while the session runs (OwnFault).
// RecordingSwitch changes `events`.
Result<void> changeSetting(abi::ControlPage &, std::string_view name, std::string_view value);

} // namespace msleaks::analysis::inline collect
