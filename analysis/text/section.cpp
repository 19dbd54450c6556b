#include "analysis/base/text.h"
#include "analysis/text/callers.h"
#include "analysis/text/finding_lines.h"
#include "analysis/text/parts.h"
#include "analysis/text/site_text.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

namespace msleaks::analysis::inline text {
namespace {

bool isText(const Column &column) { return column.unit == Unit::Text || column.unit == Unit::Place; }

// Formats the rows of a section. The numbers come first, aligned at the right of their columns. The names follow, cut
// to the room that is left.
class SectionLines {
public:
  SectionLines(const Section &section, size_t columns, size_t shown) : section_(section), columns_(columns) {
    const std::vector<Cell> totals = section.totals();
    for (size_t i = 0; i < section.columns.size(); ++i) {
      size_t width = std::max({section.columns[i].name.size(), kLeastWidth, widthOf(numberAt(totals, i))});
      for (size_t row = 0; row < shown && !isText(section.columns[i]); ++row)
        width = std::max(width, widthOf(numberAt(section.rows[row], i)));
      widths_.push_back(width + 2);
    }
  }
  std::string headings() const {
    std::string line;
    forEachNumber([&](size_t i) { line += fmt::format("{:>{}}", section_.columns[i].name, widths_[i]); });
    forEachName([&](size_t i) { line += "  " + section_.columns[i].name; });
    return line;
  }
  std::string numbers(const std::vector<Cell> &row) const {
    std::string line;
    forEachNumber([&](size_t i) { line += fmt::format("{:>{}}", numberAt(row, i), widths_[i]); });
    return line;
  }
  std::string row(const std::vector<Cell> &row) const {
    constexpr size_t kLeastRoom = 16; // width of a name in the narrowest table with three numbers
    std::string line = numbers(row);
    forEachName([&](size_t i) {
      const size_t taken = widthOf(line) + 2;
      line += "  " + cellText(row[i], section_.columns[i].unit, std::max(columns_, taken + kLeastRoom) - taken);
    });
    return line;
  }

private:
  static constexpr size_t kLeastWidth = 7;

  std::string numberAt(const std::vector<Cell> &row, size_t i) const {
    return std::holds_alternative<std::monostate>(row[i]) ? "" : cellText(row[i], section_.columns[i].unit, SIZE_MAX);
  }
  template <class F> void forEachNumber(F &&f) const {
    for (size_t i = 0; i < section_.columns.size(); ++i)
      if (!isText(section_.columns[i]))
        f(i);
  }
  template <class F> void forEachName(F &&f) const {
    for (size_t i = 0; i < section_.columns.size(); ++i)
      if (isText(section_.columns[i]))
        f(i);
  }

  const Section &section_;
  size_t columns_;
  std::vector<size_t> widths_;
};

} // namespace

std::string cellText(const Cell &cell, Unit unit, size_t room) {
  if (const auto *site = std::get_if<std::shared_ptr<const SiteText>>(&cell))
    return *site ? wholePlaceOf(**site, room) : "(others)";
  if (const auto *text = std::get_if<std::string>(&cell))
    return text->empty() ? "(unknown)" : shortPath(printable(*text), room);
  if (const auto *number = std::get_if<uint64_t>(&cell)) {
    switch (unit) {
    case Unit::Bytes:
      return bytesText(*number);
    case Unit::TimeNs:
      return durationText(*number);
    default:
      return countText(*number);
    }
  }
  const auto *real = std::get_if<double>(&cell);
  return real ? fmt::format("{:.3g}", *real) : "(unknown)";
}

namespace {

bool isOfOne(const Section &section) {
  return std::all_of(section.rows.begin(), section.rows.end(),
                     [&](const std::vector<Cell> &row) { return row.front() == section.rows.front().front(); });
}

// Sorts the rows by the column that the user names: numbers from the largest, names in alphabetical order. If the
// section has no such column, the rows keep their order.
std::vector<std::vector<Cell>> sortedRows(const Section &section, const std::string &by) {
  std::vector<std::vector<Cell>> rows = section.rows;
  const auto column = std::find_if(section.columns.begin(), section.columns.end(),
                                   [&](const Column &candidate) { return candidate.name == by; });
  if (column == section.columns.end())
    return rows;
  const auto at = static_cast<size_t>(column - section.columns.begin());
  const auto textAt = [&](const std::vector<Cell> &row) { return cellText(row[at], column->unit, SIZE_MAX); };
  const auto numberAt = [&](const std::vector<Cell> &row) {
    const auto *number = std::get_if<uint64_t>(&row[at]);
    return number ? *number : 0;
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const auto &left, const auto &right) {
    return isText(*column) ? textAt(left) < textAt(right) : numberAt(left) > numberAt(right);
  });
  return rows;
}

} // namespace

bool isInText(const Section &section) { return section.in_text && !(section.compares && isOfOne(section)); }

void writeSection(TextTable &table, const Section &unsorted) {
  Section section = unsorted;
  section.rows = sortedRows(unsorted, table.style().sort);
  const size_t shown = std::min(section.rows.size(), table.style().top);
  const SectionLines lines(section, table.columns(), shown);
  table.heading(section.title);
  table.line(lines.headings());
  for (size_t row = 0; row < shown; ++row)
    table.line(lines.row(section.rows[row]));
  if (shown < section.rows.size())
    table.line(lines.numbers(section.totals()) + fmt::format("  in all, with {} more", section.rows.size() - shown));
}

void writeHandles(TextTable &table, const std::vector<HandleLine> &handles) {
  if (handles.empty() || table.style().top == 0)
    return;
  const size_t shown = std::min(handles.size(), table.style().top);
  size_t count_width = 8, kind_width = 4;
  for (const HandleLine &line : std::span(handles).first(shown)) {
    count_width = std::max(count_width, countText(line.count).size() + 1);
    kind_width = std::max(kind_width, std::string_view(abi::nameOf(line.kind)).size());
  }
  const size_t indent = count_width + kind_width + 4;
  table.heading("Handles never given back");
  table.line(fmt::format("{:>{}}  {:<{}}  place", "count", count_width, "kind", kind_width));
  for (const HandleLine &line : std::span(handles).first(shown)) {
    const TableRow row = rowOf(line, table.columns() - std::min(indent, table.columns() / 2));
    table.line(fmt::format("{:>{}}  {:<{}}  {}", countText(line.count), count_width, abi::nameOf(line.kind), kind_width,
                           row.text));
    for (const std::string &more : row.more)
      table.line(std::string(indent, ' ') + more);
  }
  if (shown == handles.size())
    return;
  uint64_t others = 0;
  for (const HandleLine &line : std::span(handles).subspan(shown))
    others += line.count;
  table.line(fmt::format("{:>{}}  {:<{}}  {} more places", countText(others), count_width, "", kind_width,
                         countText(handles.size() - shown)));
}

namespace {

bool isBlocks(const LedgerLine &line) {
  return line.source == LedgerSource::Blocks || line.source == LedgerSource::ClosedLibrary;
}

bool isPool(const LedgerLine &line) {
  return line.source == LedgerSource::PoolUsed || line.source == LedgerSource::PoolFree;
}

} // namespace

// Whether the ledger is worth a table. Its lines about blocks only repeat the places of the peak. So it needs a line
// about a pool, or other lines with at least 8 MiB and a tenth of the blocks' bytes.
bool saysMore(const Ledger &ledger) {
  constexpr int64_t kLeastBytes = 8 << 20, kOneIn = 10;
  int64_t blocks = 0, others = 0;
  for (const LedgerLine &line : ledger)
    (isBlocks(line) ? blocks : others) += std::abs(line.at_peak_bytes);
  return std::any_of(ledger.begin(), ledger.end(), isPool) || (others >= kLeastBytes && others * kOneIn >= blocks);
}

namespace {

std::string signedText(int64_t bytes) {
  const std::string text = bytesText(static_cast<uint64_t>(std::abs(bytes)));
  return bytes < 0 ? "-" + text : text;
}

std::string memoryText(const LedgerLine &line) {
  return line.device ? fmt::format("device {}", *line.device) : std::string("host");
}

} // namespace

void writeLedger(TextTable &table, const Ledger &ledger) {
  if (ledger.empty())
    return;
  table.heading("Ledger: what the memory is made of");
  table.line(fmt::format("{:>12}{:>12}  source", "at peak", "at end"));
  for (auto line = ledger.begin(); line != ledger.end();) {
    const auto next = std::find_if(line, ledger.end(), [&](const auto &other) { return other.device != line->device; });
    int64_t at_peak = 0, at_end = 0;
    std::for_each(line, next, [&](const LedgerLine &of) {
      at_peak += of.at_peak_bytes;
      at_end += of.bytes;
    });
    table.line(fmt::format("{:>12}{:>12}  {}", signedText(at_peak), signedText(at_end), memoryText(*line)));
    for (; line != next; ++line)
      table.line(cutEnd(fmt::format("{:>12}{:>12}    {}: {}", signedText(line->at_peak_bytes), signedText(line->bytes),
                                    nameOf(line->source), meaningOf(line->source)),
                        table.columns()));
  }
}

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

} // namespace msleaks::analysis::inline text
