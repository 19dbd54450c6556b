// A folder of ours, made and opened so that nobody can put another one in its place meanwhile.
#pragma once

#include "analysis/base/file_descriptor.h"
#include "analysis/base/result.h"

#include <filesystem>
#include <sys/types.h>

namespace msleaks::analysis {

// Makes the folder, and those above it that are missing, with this mode, and returns it open. It must be empty, belong
// to us, and be no link; of one that exists, rights beyond the mode are taken away. What is looked at is what was
// opened, never a name a second time. The path has passed checkOutputFolder.
Result<FileDescriptor> makeOutputFolder(const std::filesystem::path &folder, mode_t mode);

} // namespace msleaks::analysis
