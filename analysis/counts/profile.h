// How often each function and instruction of a program ran, or was met, in the terms of LNT. Numbers are absolute for
// the whole, percent of the whole for a function, and percent of the function for a line. docs/profiles.md.
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
  std::vector<double> shares; // percent of the function, one for each of its counters, in the order of their names
  uint64_t address = 0;
  std::string text;
};

struct ProfiledFunction {
  std::map<std::string, double, std::less<>> counters; // by name: percent of the profile
  std::vector<ProfiledLine> lines;                     // addresses never fall
};

struct Profile {
  std::string disassembly_format = "raw"; // or "marked-up-disassembly": how the text of lines is to be understood
  std::map<std::string, uint64_t, std::less<>> counters;
  std::map<std::string, ProfiledFunction, std::less<>> functions;
};

// What holds of every profile, whoever made it: counts that are finite and not negative, a share for each counter of
// the function, addresses that never fall. The error says where it does not; it names no file.
Result<void> checkProfile(const Profile &);

// Limits of what is read: a file may claim anything.
inline constexpr uint64_t kMostUnpackedBytes = 256 << 20;
inline constexpr uint64_t kMostLines = 4'000'000;

// A profile as JSON, in the shapes that `lnt profile getTopLevelCounters`, `getFunctions` and `getCodeForFunction`
// print.

// "raw", "marked-up-disassembly"
void writeDisassemblyFormatJson(std::ostream &, const Profile &);
// {counter: number}
void writeCountersJson(std::ostream &, const Profile &);
// {function: {"counters": {counter: percent}, "length": lines}}
void writeFunctionsJson(std::ostream &, const Profile &);
// [[{counter: percent}, address, text], …]
void writeCodeJson(std::ostream &, const ProfiledFunction &);
// {function: [[…], …]} of all functions
void writeCodeJson(std::ostream &, const Profile &);

// A file as it lies there, for those who read all of it.
// Fails on one that is larger than a profile of these formats can be.
Result<std::vector<uint8_t>> wholeFile(const InputFile &);

} // namespace msleaks::analysis::profiles
