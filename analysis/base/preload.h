// The library of hooks that a program is started with.
#pragma once

#include "analysis/base/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace msleaks::analysis::inline base {

// The hooks in ../lib beside our own executable, wherever it was installed. Where LD_PRELOAD cannot name that folder, a
// link to it is made: `link`. An error: why the program cannot have them.
Result<std::string> findHooks(const std::filesystem::path &link);

// A sanitizer's runtime must be first. Then ours: a hook that both have is recorded by the outer one. Then `others`.
std::vector<std::string> preloadsFor(const std::filesystem::path &program, const std::string &hooks,
                                     const std::vector<std::string> &others = {});

// Sanitizer runtimes that a program needs as shared libraries: they refuse to run, or crash, unless they come before
// every other preloaded library.

// The names are those in the program, so that the dynamic linker finds the same files. Without an ELF program, there
// are none.
std::vector<std::string> sanitizersOf(const std::filesystem::path &program);

} // namespace msleaks::analysis::inline base
