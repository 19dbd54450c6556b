#include "analysis/findings/suppressions.h"

#include "analysis/base/base_name.h"

#include <algorithm>
#include <fnmatch.h>
#include <string>

namespace msleaks::analysis {
namespace {

constexpr Suppression kSuppressions[] = {
#define MSL_SUPPRESSION(library, function, smallest, largest, most, reason)                                            \
  {library, function, smallest, largest, most, reason},
#include "suppressions.def"
};

bool matches(const char *pattern, const std::string &name) { return fnmatch(pattern, name.c_str(), 0) == 0; }

// Patterns of a name that is known; "" is for none at all.
bool isIn(const char *pattern, const Site &site, std::span<const std::string_view> functions) {
  const auto matchesName = [&](std::string_view name) { return matches(pattern, std::string(name)); };
  return matchesName(site.function) || (*pattern != 0 && std::any_of(functions.begin(), functions.end(), matchesName));
}

} // namespace

const Suppression *suppressionOf(const Site &site, std::span<const std::string_view> functions,
                                 const Remains &remains) {
  if (site.origin != SiteOrigin::Hook || site.library.empty() || remains.count == 0)
    return nullptr;
  const std::string library(baseName(site.library));
  for (const Suppression &row : kSuppressions) {
    // The mean stands for the smallest: a site with blocks of one size is what the rows with sizes are about.
    const bool fits = remains.largest_bytes <= row.largest && remains.bytes / remains.count >= row.smallest;
    if (fits && matches(row.library, library) && isIn(row.function, site, functions))
      return &row;
  }
  return nullptr;
}

bool keepsNoMore(const Suppression &row, const Remains &remains) { return remains.count <= row.most; }

} // namespace msleaks::analysis
