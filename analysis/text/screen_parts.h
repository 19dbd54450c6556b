// The findings and the places of the first screen.
#pragma once

#include "analysis/text/finding_lines.h"
#include "analysis/text/report_text.h"
#include "analysis/text/table.h"

#include <cstdint>
#include <vector>

namespace msleaks::analysis::inline text {

// The findings that matter. These are growth, changed watched blocks, leaks that count for the exit status, and
// findings of a user's analyzer. A finding also matters if it would lower the peak of its heap by a twentieth. Blocks
// that a closed library allocated for itself are shown only if they grow. Otherwise they are not counted at all.
struct ScreenFindings {
  struct Sum {
    uint64_t count = 0, bytes = 0;
  };
  std::vector<NumberedFinding> shown; // at most TableStyle::top
  Sum others, smaller;                // further findings that matter, and findings that do not
};
ScreenFindings screenFindings(const Report &, const TableStyle &);

// Removes the last findings if they do not fit into `room` lines, and adds them to the others. One always stays.
void keepThoseThatFit(ScreenFindings &, size_t room);

// Writes each finding in at least three lines. All findings have at most `room` lines together, if three lines for each
// fit.
void writeScreenFindings(TextTable &, const ScreenFindings &, size_t room);

// Writes the places with the most bytes at the peak, each on one line. All blocks that closed libraries allocated for
// themselves are one line. If no place is in the user's own code, each library is a line.
void writeScreenPlaces(TextTable &, const Report &);
// The same for parts of pools, if they are at least a twentieth of the peak.
void writeScreenPools(TextTable &, const Report &);

} // namespace msleaks::analysis::inline text
