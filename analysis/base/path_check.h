// Checks paths that a user gives us to write to. Each error is one line: it says what is wrong and what to do.
#pragma once

#include "analysis/base/result.h"

#include <filesystem>

namespace msleaks::analysis::inline base {

// Checks only the name: it is not empty and not too long. It contains no control characters, which a terminal would
// execute. No component of it begins with = + - @, which a spreadsheet would execute.
Result<void> checkName(const std::filesystem::path &path);

// Checks a folder that we will make or fill. Its name passes checkName. If it exists, it must be a folder of this user,
// and no symbolic link. The mode of the folder above must not let every user replace it.
Result<void> checkOutputFolder(const std::filesystem::path &path);

// Checks a file that we will write, by the same rules. The folder of the file must exist.
Result<void> checkOutputFile(const std::filesystem::path &path);

} // namespace msleaks::analysis::inline base
