// The library of hooks, which is preloaded into a program, and other libraries that must be preloaded with it.
#pragma once

#include "analysis/base/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace msleaks::analysis::inline base {

// Finds the hook library in the folder ../lib beside the folder of our executable. If LD_PRELOAD cannot name that
// folder, makes the link `link` to it. An error says why the program cannot have hooks.
Result<std::string> findHooks(const std::filesystem::path &link);

// Runtimes of sanitizers must be first. Then our hooks, then `others`: if both hook a function, ours records it.
std::vector<std::string> preloadsFor(const std::filesystem::path &program, const std::string &hooks,
                                     const std::vector<std::string> &others = {});

// Returns the runtimes of sanitizers that the program needs as shared libraries. These runtimes refuse to run, or
// crash, unless they come before every other preloaded library.

// The names are the same as in the program, so that the dynamic linker finds the same files. Returns nothing if the
// file is not an ELF program.
std::vector<std::string> sanitizersOf(const std::filesystem::path &program);

} // namespace msleaks::analysis::inline base
