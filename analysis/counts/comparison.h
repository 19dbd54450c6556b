// Two profiles side by side: counters of the whole, functions in percent of it, instructions in percent of their
// function, as LNT's page shows two runs.
#pragma once

#include "analysis/counts/profile.h"

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace msleaks::analysis::profiles {

// Which instruction of one build is which of another: the longest common part of their texts.
// Side by side; one of the two may be missing.
struct AlignedLines {
  const ProfiledLine *first = nullptr;
  const ProfiledLine *second = nullptr;
};

// Two functions that differ in more than some thousands of lines are put side by side from their beginnings.
std::vector<AlignedLines> aligned(const std::vector<ProfiledLine> &first, const std::vector<ProfiledLine> &second);

// An instruction without what a link changes: the address before a symbol in angle brackets.
std::string withoutAddresses(std::string_view text);

struct ComparisonChoice {
  std::string counter;       // by which functions are ordered; empty: cycles, or else the first
  std::string function;      // only this one; empty: all
  std::optional<size_t> top; // so many
};

struct ComparedFunction {
  std::string name;
  const ProfiledFunction *first = nullptr, *second = nullptr; // one may be missing
  std::vector<AlignedLines> lines;
};

struct ComparedCounter {
  std::string name;
  std::optional<uint64_t> first, second;
};

// Refers to the two profiles, which must outlive it.
struct ProfileComparison {
  std::string counter;
  std::vector<ComparedCounter> counters;
  std::vector<ComparedFunction> functions; // those with the largest share of the counter first
  bool one_function = false;
  std::optional<size_t> top;
};

// Fails (as a usage error) on a counter or function that neither has.
Result<ProfileComparison> compareProfiles(const Profile &first, const Profile &second, const ComparisonChoice &);

void writeComparisonText(std::ostream &, const ProfileComparison &, size_t columns);
void writeComparisonJson(std::ostream &, const ProfileComparison &);

// The function's share of the counter; 0 where it has none, or there is no such function.
double shareOf(const ProfiledFunction *, const std::string &counter);

} // namespace msleaks::analysis::profiles
