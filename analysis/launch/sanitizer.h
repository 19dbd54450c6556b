// Sanitizer runtimes that a program needs as shared libraries: they refuse to run, or crash, unless they come before
// every other preloaded library.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace msleaks::analysis {

// As the program names them, so that the dynamic linker finds the same files. Empty for what is no ELF program.
std::vector<std::string> sanitizersOf(const std::filesystem::path &program);

} // namespace msleaks::analysis
