// A site as people and programs read it: strings of its own, names demangled.
#pragma once

#include "msleaks/analysis/site.h"

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace msleaks::analysis {

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

// What was called at the innermost place, and for what.
struct AllocatorText {
  std::string callee, type, variable;
};

SiteText textOf(const Site &);

// One JSON object (docs/report.md), without a line break.
void writeSiteJson(std::ostream &, const SiteText &);

// "src/net.cpp:12:7"; of a hook's caller "libfoo.so+0x1a2b"; "(unknown place)". At most `columns` wide: a long path
// loses its beginning. Control characters are escaped.
std::string placeOf(const SiteText &, size_t columns);
// "in net::grow -> weights (float)"; empty when nothing is known. A long function loses its parameters first.
std::string nameOf(const SiteText &, size_t columns);
// Where the user's own code led to a site in a header of the system, as far as the inline chain says:
// "from src/net.cpp:40:5 in net::make()". Empty for a site that is in the user's code itself.
std::string userPlaceOf(const SiteText &, size_t columns);
// "calls operator new[](unsigned long)"; empty when not known.
std::string calleeOf(const SiteText &, size_t columns);

} // namespace msleaks::analysis
