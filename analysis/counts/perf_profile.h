// A perf.data as a profile: samples by function and instruction, functions from the symbols of the images, text from
// objdump. docs/profiles.md says what is in it and what is not.
#pragma once

#include "analysis/base/files.h"
#include "analysis/counts/profile.h"

#include <string>
#include <vector>

namespace msleaks::analysis::profiles {

struct PerfOptions {
  std::string objdump;        // empty: the one that is there
  bool text = true;           // without it no objdump runs
  double least_percent = 0.5; // of some counter, that a function must have for all of its instructions to be listed
};

// `notes` gets what is missing and why, one line each.
Result<Profile> readPerfProfile(const InputFile &, const PerfOptions &, std::vector<std::string> &notes);

} // namespace msleaks::analysis::profiles
