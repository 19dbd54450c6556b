// Compares two profiles side by side, as LNT's page does. Counters of the whole are numbers. Functions are shown in
// percent of the whole, and instructions in percent of their function.
#pragma once

#include "analysis/counts/profile.h"

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace msleaks::analysis::profiles {

// Two instructions side by side, one of each build. `first` or `second` may be missing. The pairs are the longest
// common subsequence of the two texts.
struct AlignedLines {
  const ProfiledLine *first = nullptr;
  const ProfiledLine *second = nullptr;
};

// If the two functions differ in more than a few thousand lines, line n of one stands beside line n of the other.
std::vector<AlignedLines> aligned(const std::vector<ProfiledLine> &first, const std::vector<ProfiledLine> &second);

// Removes from an instruction what a link changes: the address before a symbol in angle brackets.
std::string withoutAddresses(std::string_view text);

struct ComparisonChoice {
  std::string counter;       // orders the functions; empty: cycles, or else the first counter
  std::string function;      // only this function; empty: all functions
  std::optional<size_t> top; // number of functions that are shown
};

struct ComparedFunction {
  std::string name;
  const ProfiledFunction *first = nullptr, *second = nullptr; // may be null, but not both
  std::vector<AlignedLines> lines;
};

struct ComparedCounter {
  std::string name;
  std::optional<uint64_t> first, second;
};

// The pointers refer to the two profiles, which must outlive this object.
struct ProfileComparison {
  std::string counter;
  std::vector<ComparedCounter> counters;
  std::vector<ComparedFunction> functions; // functions with the largest share of `counter` come first
  bool one_function = false;
  std::optional<size_t> top;
};

// Fails with a usage error if neither profile has the counter or the function.
Result<ProfileComparison> compareProfiles(const Profile &first, const Profile &second, const ComparisonChoice &);

void writeComparisonText(std::ostream &, const ProfileComparison &, size_t columns);
void writeComparisonJson(std::ostream &, const ProfileComparison &);

// Returns the function's share of the counter. Returns 0 if there is no function, or if the function has no such
// counter.
double shareOf(const ProfiledFunction *, const std::string &counter);

} // namespace msleaks::analysis::profiles
