// The report as text, for a person (docs/report.md).
#pragma once

#include "analysis/base/result.h"
#include "analysis/result/report.h"

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace msleaks::analysis::inline text {

// How the report is drawn as text.
struct TableStyle {
  size_t columns = 80;
  size_t top = 10;                     // findings, and rows of each table
  bool color = false;                  // only for a terminal
  std::string sort = {};               // by what tables are sorted: bytes (and empty), count, place, age
  uint64_t least_bytes = 0;            // rows and findings with fewer are left out
  std::vector<std::string> shown = {}; // columns of tables (rowColumns); none: bytes, share, sum, blocks
};
// Names of columns that a table of places can show.
std::vector<std::string> rowColumns();

// All parts of the report, one after the other.
void writeReportTable(std::ostream &, const Report &, const TableStyle &);

// Names of the parts of this report: "findings", "leaks", … and those of its sections, in their order.
std::vector<std::string> partNames(const Report &);
// These parts, in the order of `names`; a part without content is one line. An error of the usage if a name is unknown.
Result<void> writeParts(std::ostream &, const Report &, const TableStyle &, const std::vector<std::string> &names);

// Prints the first screen (docs/report.md, "The first screen"): at most 40 lines if `style.top` is at most
// kScreenRows and neither the report nor the style asks for tables of its own.
inline constexpr size_t kScreenRows = 5, kScreenColumns = 100;
void writeScreen(std::ostream &, const Report &, const TableStyle &style);

// At most twelve lines; see the top of this file.
void printShortReport(const Report &, std::ostream &, size_t columns = 80);

} // namespace msleaks::analysis::inline text
