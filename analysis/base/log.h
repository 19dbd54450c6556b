// The one logger of everything outside the hot path: spdlog's default one, on stderr.
#pragma once

#include "analysis/base/result.h"

#include <string>
#include <string_view>

namespace msleaks::analysis::inline base {

// Lines begin with the program's name. The level is `option`, else MSLEAKS_LOG, else "warning". Fails on a level that
// does not exist.
Result<void> startLog(std::string_view program, const std::string &option);

} // namespace msleaks::analysis::inline base
