// Makes the lines that show a finding, and chooses the most important ones if there is little room.
#pragma once

#include "analysis/result/result.h"

#include <string>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline text {

// A finding that is shown, with its number in the report's list. `msleaks verify` takes this number.
struct NumberedFinding {
  size_t number = 0;
  const Finding *finding = nullptr;
  // Findings that are shown below this one: about blocks that only this lost block leads to, or that grow by one cause.
  std::vector<const Finding *> led;
};

// Returns the findings that the text shows, in the report's order, except those in the `led` of another one.
std::vector<NumberedFinding> numberedFindings(const AnalysisResult &, uint64_t least_bytes);

// The lines of a finding, by part. No line is wider than the given columns.
struct FindingLines {
  std::vector<std::string> title, where, callers, holders, led;
  std::vector<std::string> last; // the saving of a fix, and the advice
  size_t count() const;
  std::vector<std::string> all() const;
};
FindingLines linesOf(const NumberedFinding &, size_t columns);

// Returns at most `most` lines, but at least three: the title, the place and the advice have priority.
std::vector<std::string> fewLinesOf(const NumberedFinding &, size_t columns, size_t most);

} // namespace msleaks::analysis::inline text
