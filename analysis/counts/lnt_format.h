// Reads and writes LNT's binary profile, version 2, which `lnt profile upgrade` writes. It is an index of eight
// sections and the sections. The format has only numbers in ULEB128, and texts that end with '\n'. docs/profiles.md
// draws the format.
#pragma once

#include "analysis/counts/profile.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace msleaks::analysis::profiles {

inline constexpr uint8_t kLntVersion = 2; // the first byte of each file

// The index and the file have the sections in this order.
enum class LntSection : uint8_t {
  Header,
  CounterNames,
  TopLevelCounters,
  LineCounters,
  LineAddresses,
  LineTexts,
  TextPool,
  Functions,
};
inline constexpr size_t kLntSections = 8;

constexpr bool isPacked(LntSection section) {
  return section >= LntSection::LineCounters && section <= LntSection::TextPool;
}

// The first text of the pool if the texts of the file are escaped (escaped.h). LNT's own writer escapes no texts. If a
// name contains the end of a line, LNT's writer makes a file with a broken index.
inline constexpr std::string_view kEscapedMark = "msleaks: texts are escaped";

// Returns the bytes of the file. If LNT can write the profile, these are the bytes that LNT writes. Fails if the format
// has no room for a number of the profile.
Result<std::string> writeLnt(const Profile &);

Result<Profile> readLnt(std::span<const uint8_t> file);

} // namespace msleaks::analysis::profiles
