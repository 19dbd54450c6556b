// Which processes of a run executed code of certain files.
#pragma once

#include "analysis/base/result.h"

#include <cstdint>
#include <filesystem>
#include <set>

namespace msleaks::analysis::inline report {

// The numbers of the processes that allocated memory from a program or library below this folder, and of the children
// that they forked. The folder's path has no links.
Result<std::set<uint32_t>> processesWithCodeIn(const std::filesystem::path &folder, const std::filesystem::path &run);

} // namespace msleaks::analysis::inline report
