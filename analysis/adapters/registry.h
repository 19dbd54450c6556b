// The adapters are the files of this folder. The last line of each is
//
//   MSL_REGISTER_PROFILE_ADAPTER(stem_of_the_file, "what it is", recognizes, load)
//
// The stem is the name of the format.
#pragma once

#include "analysis/adapters/adapter.h"
#include "analysis/base/files.h"
#include "analysis/base/result.h"

#include <filesystem>
#include <vector>

#define MSL_REGISTER_PROFILE_ADAPTER(stem, summary, recognizes, load)                                                  \
  ProfileAdapter makeProfileAdapter_##stem() { return {#stem, summary, recognizes, load}; }

namespace msleaks::analysis::inline adapters {

// Returns all adapters, sorted by name.
std::vector<ProfileAdapter> profileAdapters();

// Loads a file by the first adapter that recognises it. An error's message begins with the file's name. The path "-"
// means the standard input.
Result<profiles::Profile> loadProfile(const std::filesystem::path &, ProfileLoading &);

// Copies the whole standard input to a file without a name. The message of an error follows the words "the standard
// input".
Result<FileDescriptor> copyOfStandardInput();

} // namespace msleaks::analysis::inline adapters
