// The lines that show a finding, and a choice of them where there is little room.
#pragma once

#include "analysis/result/result.h"

#include <string>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline text {

// A finding that is shown, with its number in the report's list: `msleaks verify` knows it by this number.
struct NumberedFinding {
  size_t number = 0;
  const Finding *finding = nullptr;
  std::vector<const Finding *> led; // findings about blocks to which only this lost block leads
};

// The findings that the text shows, in the report's order. Findings that stand below their lost block are in its `led`.
std::vector<NumberedFinding> numberedFindings(const AnalysisResult &, uint64_t least_bytes);

// Each list has the lines of one part. No line is wider than the given columns.
struct FindingLines {
  std::vector<std::string> title, where, callers, holders, led;
  std::vector<std::string> last; // what a fix saves, and the advice
  size_t count() const;
  std::vector<std::string> all() const;
};
FindingLines linesOf(const NumberedFinding &, size_t columns);

// At most `most` of the lines, at least three: the title, the place and the advice come first.
std::vector<std::string> fewLinesOf(const NumberedFinding &, size_t columns, size_t most);

} // namespace msleaks::analysis::inline text
