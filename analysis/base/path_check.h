// Paths that a user gives us to write to. Each refusal is one line: what is wrong and what to do.
#pragma once

#include "analysis/base/result.h"

#include <filesystem>

namespace msleaks::analysis::inline base {

// The name alone: not empty or too long, and without what a terminal or a spreadsheet would execute when it shows it
// (control characters; a component that begins with = + - @).
Result<void> checkName(const std::filesystem::path &path);

// Checks a folder that is to be made or filled: its name, no symbolic link in its place, and our own if it exists. It
// must be in a folder where nobody else could replace it.
Result<void> checkOutputFolder(const std::filesystem::path &path);

// A file that is to be written, by the same rules. Its folder must exist.
Result<void> checkOutputFile(const std::filesystem::path &path);

} // namespace msleaks::analysis::inline base
