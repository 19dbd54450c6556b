// LNT's binary profile, version 2, which `lnt profile upgrade` writes: an index of eight sections and the sections. It
// has only numbers in ULEB128, and texts that end with '\n'. docs/profiles.md draws it.
#pragma once

#include "analysis/counts/profile.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace msleaks::analysis::profiles {

inline constexpr uint8_t kLntVersion = 2; // the first byte of a file

// In the order of the index, which is their order in the file.
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

// The first text of the pool where the texts of the file had to be escaped (escaped.h). LNT's own writer makes no such
// file: one with the end of a line in a name would have a broken index.
inline constexpr std::string_view kEscapedMark = "msleaks: texts are escaped";

// The bytes of a file; where LNT can write the same profile they are the same bytes. Fails on what the format has no
// room for.
Result<std::string> writeLnt(const Profile &);

Result<Profile> readLnt(std::span<const uint8_t> file);

} // namespace msleaks::analysis::profiles
