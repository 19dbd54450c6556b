// An adapter reads profiles of one format. It looks at the beginning of a file and says whether that is its own; then
// it is asked to load it. To add one: a file in this folder (registry.h) and its test.
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

// How to load, and what was found out on the way.
struct ProfileLoading {
  profiles::PerfOptions perf;
  std::vector<std::string> notes{}; // what is missing of the profile and why, one line each
  std::string_view format{};        // name of the adapter that knew the file
};

struct ProfileAdapter {
  std::string_view name;
  std::string_view summary; // for `msleaks profile formats`
  // Given the first kilobyte of a file, or less where it is shorter.
  bool (*recognizes)(std::span<const uint8_t> head);
  // The message of an error is about the file, and stands behind its name: "is cut short".
  Result<profiles::Profile> (*load)(const InputFile &, ProfileLoading &);
};

} // namespace msleaks::analysis::inline adapters
