// The logger of all code outside the hot path: spdlog's default logger, which writes to stderr.
#pragma once

#include "analysis/base/result.h"

#include <string>
#include <string_view>

namespace msleaks::analysis::inline base {

// Each line begins with the program's name. The level is `option`, or else the variable MSLEAKS_LOG, or else "warning".
// Fails if the level does not exist.
Result<void> startLog(std::string_view program, const std::string &option);

} // namespace msleaks::analysis::inline base
