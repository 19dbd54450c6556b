#include "text_parts.h"

#include "finding_lines.h"

#include <algorithm>
#include <fmt/format.h>

namespace msleaks::analysis {

void writeFindings(TextTable &table, const Report &report) {
  const std::vector<NumberedFinding> findings = numberedFindings(report, table.style().least_bytes);
  const size_t shown = std::min(findings.size(), table.style().top);
  if (shown == 0)
    return;
  table.heading(fmt::format(
      "Findings{}", findings.size() > shown ? fmt::format(" ({} of {}; all: --json)", shown, findings.size()) : ""));
  for (size_t i = 0; i < shown; ++i)
    for (const std::string &line : linesOf(findings[i], table.columns()).all())
      table.line(line);
}

} // namespace msleaks::analysis
