// A site as people and programs read it: strings of its own, names demangled.
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

// Empty strings and zeros mean: not known.
struct SiteText : FrameText {
  uint64_t id = 0;
  std::string callee, type, variable;
  std::vector<FrameText> inlined_at;
  SiteOrigin origin = SiteOrigin::Unknown;
  std::string library;
  uint64_t offset = 0; // of a hook's caller in its library
};

// The function that was called at the innermost place, and the purpose of its block.
struct AllocatorText {
  std::string callee, type, variable;
};

SiteText textOf(const Site &);

} // namespace msleaks::analysis::inline places
