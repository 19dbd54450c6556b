// An adapter reads profiles of one format. It looks at the beginning of a file and says whether the file has this
// format. If so, it is asked to load the file. To add an adapter, add a file to this folder (registry.h), and a test.
#pragma once

#include "analysis/base/files.h"
#include "analysis/counts/perf_profile.h"
#include "analysis/counts/profile.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace msleaks::analysis::inline adapters {

// Options of the loading, and what it found out besides the profile.
struct ProfileLoading {
  profiles::PerfOptions perf;
  std::vector<std::string> notes{}; // parts that the profile lacks, and why; one line for each
  std::string_view format{};        // name of the adapter that recognised the file
};

struct ProfileAdapter {
  std::string_view name;
  std::string_view summary; // for `msleaks profile formats`
  // `head`: the first kilobyte of the file, or all of a shorter file.
  bool (*recognizes)(std::span<const uint8_t> head);
  // The message of an error follows the file's name: "is cut short".
  Result<profiles::Profile> (*load)(const InputFile &, ProfileLoading &);
};

} // namespace msleaks::analysis::inline adapters
