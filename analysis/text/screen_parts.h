// The findings of the first screen.
#pragma once

#include "analysis/text/finding_lines.h"
#include "analysis/text/report_text.h"
#include "analysis/text/table.h"

#include <cstdint>
#include <vector>

namespace msleaks::analysis::inline text {

// The findings that matter: growth, changed watched blocks, leaks that count for the exit status, what an analyzer of
// the user's own says, and all that would lower its heap's peak by a twentieth. The blocks that a closed library
// allocated for itself matter only if they grow, and are not counted otherwise.
struct ScreenFindings {
  struct Sum {
    uint64_t count = 0, bytes = 0;
  };
  std::vector<NumberedFinding> shown; // at most the style's number
  Sum others, smaller;                // others that matter, and those that do not
};
ScreenFindings screenFindings(const Report &, const TableStyle &);

// Each finding in at least three lines, and all of them in `room` lines together, if there is so much room.
void writeScreenFindings(TextTable &, const ScreenFindings &, size_t room);

// The largest places of the first screen.
// The places with the most bytes at the peak, each on one line. All that closed libraries allocated for themselves is
// one line. If no place is in the user's own code, each library is a line.
void writeScreenPlaces(TextTable &, const Report &);

} // namespace msleaks::analysis::inline text
