// A profile says how often each function and instruction of a program ran, or how often samples met it. It has the form
// of LNT's profiles. Numbers of the whole program are absolute. Numbers of a function are percent of the whole. Numbers
// of a line are percent of the function. docs/profiles.md describes profiles.
#pragma once

#include "analysis/base/files.h"
#include "analysis/base/result.h"

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

namespace msleaks::analysis::profiles {

struct ProfiledLine {
  std::vector<double> shares; // percent of the function, for each counter of the function, in the order of names
  uint64_t address = 0;
  std::string text;
};

struct ProfiledFunction {
  std::map<std::string, double, std::less<>> counters; // by name: percent of the whole program
  std::vector<ProfiledLine> lines;                     // in the order of addresses
};

struct Profile {
  std::string disassembly_format = "raw"; // or "marked-up-disassembly"; says how to read the text of lines
  std::map<std::string, uint64_t, std::less<>> counters;
  std::map<std::string, ProfiledFunction, std::less<>> functions;
};

// Checks what must hold for every profile. Counts are finite and not negative. Each line has a share for each counter
// of the function. Addresses never fall. The error says which function is wrong, but names no file.
Result<void> checkProfile(const Profile &);

// Limits for readers, because a file may claim any size.
inline constexpr uint64_t kMostUnpackedBytes = 256 << 20;
inline constexpr uint64_t kMostLines = 4'000'000;

// The following functions write a profile as JSON, in the form in which `lnt profile getTopLevelCounters`,
// `getFunctions` and `getCodeForFunction` print it.

// Writes "raw" or "marked-up-disassembly".
void writeDisassemblyFormatJson(std::ostream &, const Profile &);
// Writes {counter: number}.
void writeCountersJson(std::ostream &, const Profile &);
// Writes {function: {"counters": {counter: percent}, "length": lines}}.
void writeFunctionsJson(std::ostream &, const Profile &);
// Writes [[{counter: percent}, address, text], …].
void writeCodeJson(std::ostream &, const ProfiledFunction &);
// Writes {function: [[…], …]} for all functions.
void writeCodeJson(std::ostream &, const Profile &);

// Returns all bytes of a file. Fails if the file is larger than a profile of these formats can be.
Result<std::vector<uint8_t>> wholeFile(const InputFile &);

} // namespace msleaks::analysis::profiles
