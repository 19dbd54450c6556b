// The cohort with the most bytes among several, by a majority vote: it needs no list of cohorts.
#pragma once

#include "analysis/live/cohort_sums.h"

#include <cstdint>

namespace msleaks::analysis::inline analyzers {

struct MajorityCohort {
  CohortId cohort;
  uint64_t bytes = 0;

  void add(CohortId of, uint64_t more) {
    if (of == cohort || bytes == 0)
      bytes = cohort == of ? bytes + more : more, cohort = of;
    else if (bytes >= more)
      bytes -= more;
    else
      bytes = more - bytes, cohort = of;
  }
};

} // namespace msleaks::analysis::inline analyzers
