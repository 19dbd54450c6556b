// Paths that a user gives us to write to. Each refusal is one line: what is wrong and what to do.
#pragma once

#include "analysis/base/result.h"

#include <filesystem>

namespace msleaks::analysis {

// The name alone: not empty or too long, and without what a terminal or a spreadsheet would execute when it shows it
// (control characters; a component that begins with = + - @).
Result<void> checkName(const std::filesystem::path &path);

// A folder that is to be made, or to be filled: its name, no symbolic link in its place, ours when it exists, and in a
// folder where nobody else could put another one in its place.
Result<void> checkOutputFolder(const std::filesystem::path &path);

// A file that is to be written, by the same rules. Its folder must exist.
Result<void> checkOutputFile(const std::filesystem::path &path);

} // namespace msleaks::analysis
