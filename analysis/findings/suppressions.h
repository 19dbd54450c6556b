// Which remains are known to be harmless (suppressions.def).
#pragma once

#include "analysis/live/cohort_sums.h"
#include "analysis/places/site.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace msleaks::analysis {

struct Suppression {
  const char *library, *function;
  uint64_t smallest, largest, most;
  const char *reason;
};

// The row for blocks of which the innermost call is `site`, on whose way in that library these `functions` were called;
// null: a leak. Only callers of hooks are ever suppressed: a site of the pass is in the user's own code.
const Suppression *suppressionOf(const Site &site, std::span<const std::string_view> functions, const Remains &);
// Whether a process may keep all of these blocks of the row.
bool keepsNoMore(const Suppression &, const Remains &);

} // namespace msleaks::analysis
