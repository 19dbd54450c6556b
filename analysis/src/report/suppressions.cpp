#include "suppressions.h"

#include "text_format.h"

#include <algorithm>
#include <fnmatch.h>
#include <string>

namespace msleaks::analysis {
namespace {

struct Suppression {
  const char *library, *function;
  uint64_t smallest, largest, most;
  const char *reason;
};

constexpr Suppression kSuppressions[] = {
#define MSL_SUPPRESSION(library, function, smallest, largest, most, reason)                                            \
  {library, function, smallest, largest, most, reason},
#include "suppressions.def"
};

bool matches(const char *pattern, const std::string &name) { return fnmatch(pattern, name.c_str(), 0) == 0; }

// The function, or one that was inlined into.
bool isIn(const char *pattern, const Site &site) {
  return matches(pattern, std::string(site.function)) ||
         std::any_of(site.inlined_at.begin(), site.inlined_at.end(),
                     [&](const InlineFrame &frame) { return matches(pattern, std::string(frame.function)); });
}

} // namespace

const char *suppressionOf(const Site &site, const SiteRemains &remains, size_t processes) {
  if (site.origin != SiteOrigin::Hook || site.library.empty() || remains.count == 0)
    return nullptr;
  const std::string library(baseName(site.library));
  for (const Suppression &row : kSuppressions) {
    // The mean stands for the smallest: a site with blocks of one size is what the rows with sizes are about.
    const bool fits = remains.largest_bytes <= row.largest && remains.bytes / remains.count >= row.smallest;
    const bool few = row.most == 0 || remains.count <= row.most * processes;
    if (fits && few && matches(row.library, library) && isIn(row.function, site))
      return row.reason;
  }
  return nullptr;
}

} // namespace msleaks::analysis
