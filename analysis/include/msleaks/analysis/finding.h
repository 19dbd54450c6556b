// What an analyzer says to the user: one thing worth changing.
#pragma once

#include "msleaks/analysis/site.h"

#include <cstdint>
#include <string>

namespace msleaks::analysis {

struct Finding {
  std::string analyzer; // "leaks"
  std::string message;  // one sentence, without the place
  SiteId site;          // the place
  uint64_t bytes = 0, count = 0;
  uint64_t saves_bytes = 0; // the peak would fall by so much; findings are ranked by it. 0 = not computed
};

} // namespace msleaks::analysis
