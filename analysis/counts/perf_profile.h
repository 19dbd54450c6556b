// Makes a profile from a perf.data. The profile has samples by function and instruction. Symbols of the images name the
// functions, and objdump shows the instructions. docs/profiles.md describes what the profile contains.
#pragma once

#include "analysis/base/files.h"
#include "analysis/counts/profile.h"

#include <string>
#include <vector>

namespace msleaks::analysis::profiles {

struct PerfOptions {
  std::string objdump;        // empty: the first one that is found
  bool text = true;           // false: no objdump runs
  double least_percent = 0.5; // If a function has this share of any counter, all its instructions are listed.
};

// Adds one line to `notes` for each thing that is missing, with the reason.
Result<Profile> readPerfProfile(const InputFile &, const PerfOptions &, std::vector<std::string> &notes);

} // namespace msleaks::analysis::profiles
