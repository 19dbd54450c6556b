// The adapters are the files of this folder. Each ends with
//
//   MSL_REGISTER_PROFILE_ADAPTER(stem_of_the_file, "what it is", recognizes, load)
//
// and the stem is the format's name.
#pragma once

#include "analysis/adapters/adapter.h"
#include "analysis/base/files.h"
#include "analysis/base/result.h"

#include <filesystem>
#include <vector>

#define MSL_REGISTER_PROFILE_ADAPTER(stem, summary, recognizes, load)                                                  \
  ProfileAdapter makeProfileAdapter_##stem() { return {#stem, summary, recognizes, load}; }

namespace msleaks::analysis::inline adapters {

// In the order of their names.
std::vector<ProfileAdapter> profileAdapters();

// By the first adapter that knows the file. An error names it. "-" is the standard input.
Result<profiles::Profile> loadProfile(const std::filesystem::path &, ProfileLoading &);

// All that is piped into the program, copied to a file without a name. An error speaks of the standard input.
Result<FileDescriptor> copyOfStandardInput();

} // namespace msleaks::analysis::inline adapters
