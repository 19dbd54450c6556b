// The library of hooks that a program is started with.
#pragma once

#include "analysis/base/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace msleaks::analysis {

// The hooks in ../lib beside our own executable, wherever it was installed. Where LD_PRELOAD cannot name that folder, a
// link to it is made: `link`. An error: why the program cannot have them.
Result<std::string> findHooks(const std::filesystem::path &link);

// A sanitizer's runtime must be first. Then ours: a hook that both have is recorded by the outer one. Then `others`.
std::vector<std::string> preloadsFor(const std::filesystem::path &program, const std::string &hooks,
                                     const std::vector<std::string> &others = {});

} // namespace msleaks::analysis
