// Which instruction of one build is which of another: the longest common part of their texts.
#pragma once

#include "analysis/profiles/profile.h"

#include <string>
#include <string_view>
#include <vector>

namespace msleaks::analysis::profiles {

// Side by side; one of the two may be missing.
struct AlignedLines {
  const ProfiledLine *first = nullptr;
  const ProfiledLine *second = nullptr;
};

// Two functions that differ in more than some thousands of lines are put side by side from their beginnings.
std::vector<AlignedLines> aligned(const std::vector<ProfiledLine> &first, const std::vector<ProfiledLine> &second);

// An instruction without what a link changes: the address before a symbol in angle brackets.
std::string withoutAddresses(std::string_view text);

} // namespace msleaks::analysis::profiles
