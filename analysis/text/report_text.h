// Writes the report as text for people (docs/report.md).
#pragma once

#include "analysis/base/result.h"
#include "analysis/result/report.h"

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace msleaks::analysis::inline text {

// The style of a text report.
struct TableStyle {
  size_t columns = 80;
  size_t top = 10;                     // number of findings, and of rows in each table
  bool color = false;                  // colors, for a terminal only
  std::string sort = {};               // sorts tables: bytes (or empty), count, place, age
  uint64_t least_bytes = 0;            // rows and findings with fewer bytes are left out
  std::vector<std::string> shown = {}; // columns of tables (rowColumns); empty: bytes, share, sum, blocks
};
// Returns the names of the columns that a table of places can show.
std::vector<std::string> rowColumns();

// Writes all parts of the report.
void writeReportTable(std::ostream &, const Report &, const TableStyle &);

// Returns the names of this report's parts: "findings", "leaks", … and then its sections, in their order.
std::vector<std::string> partNames(const Report &);
// Writes these parts, in the order of `names`. A part without content is one line. If a name is unknown, returns an
// error of the usage.
Result<void> writeParts(std::ostream &, const Report &, const TableStyle &, const std::vector<std::string> &names);

// Writes the first screen (docs/report.md, "The first screen"). It has at most 40 lines if `style.top` is at most
// kScreenRows, and if neither the report nor the style asks for further tables.
inline constexpr size_t kScreenRows = 5, kScreenColumns = 100;
void writeScreen(std::ostream &, const Report &, const TableStyle &style);

// Writes a short form of the report, in at most twelve lines.
void printShortReport(const Report &, std::ostream &, size_t columns = 80);

} // namespace msleaks::analysis::inline text
