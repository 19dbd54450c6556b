// Finds the processes of a run that executed code in certain files.
#pragma once

#include "analysis/base/result.h"

#include <cstdint>
#include <filesystem>
#include <set>

namespace msleaks::analysis::inline report {

// The numbers of the processes in which a program or library below this folder allocated memory, and of the children
// that they forked. The path of the folder contains no links.
Result<std::set<uint32_t>> processesWithCodeIn(const std::filesystem::path &folder, const std::filesystem::path &run);

} // namespace msleaks::analysis::inline report
