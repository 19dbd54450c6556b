// A site for people and for other programs: it owns its strings, and its names are demangled.
#pragma once

#include "analysis/places/site.h"

#include <cstdint>
#include <string>
#include <vector>

namespace msleaks::analysis::inline places {

struct FrameText {
  std::string function, file;
  uint32_t line = 0, column = 0;
  bool operator==(const FrameText &) const = default;
};

// Empty strings and zeros mean that a fact is not known.
struct SiteText : FrameText {
  uint64_t id = 0;
  std::string callee, type, variable;
  std::vector<FrameText> inlined_at;
  SiteOrigin origin = SiteOrigin::Unknown;
  std::string library;
  uint64_t offset = 0; // address of a hook's caller in its library
};

// The function that was called at the innermost place, and the purpose of the block.
struct AllocatorText {
  std::string callee, type, variable;
};

SiteText textOf(const Site &);

} // namespace msleaks::analysis::inline places
