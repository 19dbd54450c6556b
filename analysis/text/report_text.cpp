#include "analysis/text/report_text.h"
#include "analysis/base/text.h"
#include "analysis/result/finding_kinds.h"
#include "analysis/result/report.h"
#include "analysis/text/callers.h"
#include "analysis/text/finding_lines.h"
#include "analysis/text/parts.h"
#include "analysis/text/site_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <ostream>

namespace msleaks::analysis::inline text {
namespace {

constexpr size_t kShortFindings = 3; // the short form has at most seven entries, so it stays within twelve lines

// Returns a line about the paths whose callers are not shown.
std::string otherPathsText(const SiteLine &line, const std::vector<CallersText> &shown) {
  const uint64_t whole = line.bytes != 0 ? line.bytes : line.count;
  uint64_t others = line.paths.size() + line.more_paths, weight = whole;
  for (const CallersText &path : shown) {
    others -= path.paths;
    weight -= path.weight;
  }
  if (others == 0 || whole == 0)
    return "";
  return fmt::format("and {} more path{} with {}", countText(others), others == 1 ? "" : "s",
                     percentText(weight, whole));
}

} // namespace

TableRow rowOf(const SiteLine &line, size_t room) {
  TableRow row{.bytes = line.bytes, .count = line.count};
  SiteText site = line.site;
  if (site.type.empty())
    site.type = line.allocator.type;
  row.text = placeOf(site, room);
  const size_t wide = std::min(room, kWidestName);
  const std::string name = nameOf(site, wide);
  if (!name.empty() && widthOf(row.text) + 1 + widthOf(name) <= room)
    row.text += " " + name;
  else
    row.more.push_back(name);
  row.more.push_back(userPlaceOf(site, room));
  const std::vector<CallersText> paths = callersOf(line, wide);
  for (const CallersText &path : paths)
    row.more.insert(row.more.end(), path.lines.begin(), path.lines.end());
  row.more.push_back(otherPathsText(line, paths));
  std::erase(row.more, std::string());
  return row;
}

namespace {

TableRow rowOf(const LeakLine &line, size_t room) {
  TableRow row = rowOf(static_cast<const SiteLine &>(line), room);
  row.oldest_age_ns = line.remains.oldest_age_ns;
  row.largest_bytes = line.remains.largest_bytes;
  return row;
}

std::string foreignName(const SiteLine &line) {
  if (!line.child.empty())
    return "child process " + printable(line.child);
  return line.site.library.empty() ? "(unknown)" : printable(baseName(line.site.library));
}

// Returns a row for each of the user's own places, and then one for each library and each child process.
template <class Line> std::vector<TableRow> rowsOf(const std::vector<Line> &lines, const TextTable &table) {
  struct Foreign {
    TableRow row;
    uint64_t places = 0, most_bytes = 0;
    std::string most;
  };
  std::vector<TableRow> rows;
  std::map<std::pair<bool, std::string>, Foreign> foreign; // sorted: libraries, then children
  for (const Line &line : lines) {
    if (line.own && line.child.empty()) {
      rows.push_back(rowOf(line, table.roomForText()));
      continue;
    }
    Foreign &of = foreign[{!line.child.empty(), foreignName(line)}];
    const TableRow row = rowOf(line, table.roomForText());
    of.row.bytes += line.bytes;
    of.row.count += line.count;
    of.row.oldest_age_ns = std::max(of.row.oldest_age_ns, row.oldest_age_ns);
    of.row.largest_bytes = std::max(of.row.largest_bytes, row.largest_bytes);
    if (of.places++ == 0 || line.bytes > of.most_bytes) {
      of.most_bytes = line.bytes;
      of.most = row.text;
    }
  }
  const auto own = static_cast<ptrdiff_t>(rows.size());
  for (auto &[key, of] : foreign) {
    of.row.text = of.places == 1 ? key.second + ": " + of.most
                                 : fmt::format("{}: {} places, most at {}", key.second, countText(of.places), of.most);
    of.row.text = cutEnd(of.row.text, table.roomForText());
    of.row.foreign = true;
    rows.push_back(std::move(of.row));
  }
  std::stable_sort(rows.begin() + own, rows.end(),
                   [](const TableRow &a, const TableRow &b) { return a.bytes > b.bytes; });
  return rows;
}

} // namespace

void writeRemains(TextTable &table, const RemainsReport &remains, const std::string &what) {
  if (!remains.by_site.empty()) {
    table.heading(what);
    table.rows("place", rowsOf(remains.by_site, table), remains.sum.bytes, "place");
  }
  if (!remains.pool_by_site.empty()) {
    table.heading(what + ", in pools");
    table.rows("place", rowsOf(remains.pool_by_site, table), remains.pool_sum.bytes, "place");
  }
}

// Writes the rows of a grouping like the rows of places.
void writeGroup(TextTable &table, const Section &section) {
  std::vector<TableRow> rows;
  uint64_t whole = 0;
  for (const std::vector<Cell> &row : section.rows) {
    const auto bytes = std::get<uint64_t>(row[1]), count = std::get<uint64_t>(row[2]);
    rows.push_back({.bytes = bytes, .count = count, .text = cellText(row[0], Unit::Text, table.roomForText())});
    whole += bytes;
  }
  table.heading(section.title);
  table.rows(section.columns[0].name, std::move(rows), whole, section.columns[0].name);
}

bool hasGroups(const Report &report) {
  return std::any_of(report.sections.begin(), report.sections.end(),
                     [](const Section &section) { return section.is_grouping; });
}

void writeGroups(TextTable &table, const Report &report) {
  for (const char *of : {"peak_by_", "leaks_by_"})
    for (const Section &section : report.sections)
      if (section.is_grouping && section.name.starts_with(of))
        writeGroup(table, section);
}

void writePeak(TextTable &table, const Report &report) {
  const PeakReport &peak = report.peak;
  if (!peak.by_site.empty()) {
    table.heading(headingOfPeak(report));
    table.rows("place", rowsOf(peak.by_site, table), peak.bytes, "place");
  }
  if (const HeapPeak *const pools = peakOfPools(report)) {
    table.heading(headingOfPools(report));
    table.rows("place", rowsOf(pools->by_site, table), pools->bytes, "place");
  }
}

namespace {

void writeLists(TextTable &table, const Report &report) {
  const bool is_grouped = hasGroups(report);
  writeGroups(table, report);
  if (!is_grouped)
    writePeak(table, report);
  if (saysMore(report.ledger))
    writeLedger(table, report.ledger);
  if (!is_grouped)
    writeRemains(table, report.leaks, "Leaked");
  writeRemains(table, report.alive, "Alive");
  writeRemains(table, report.unsure, "Unsure");
  writeHandles(table, report.handles);
  for (const Section &section : report.sections)
    if (!section.is_grouping && isInText(section))
      writeSection(table, section);
}

} // namespace

void writeReportTable(std::ostream &to, const Report &report, const TableStyle &style) {
  TextTable table(to, style);
  writeSession(table, report);
  writeEntries(table, report);
  writeNotes(table, report);
  writeFindings(table, report);
  writeLists(table, report);
}

void printShortReport(const Report &report, std::ostream &to, size_t columns) {
  constexpr size_t kBeforePlace = 21, kLeastPlace = 40;
  TableStyle style;
  style.columns = SIZE_MAX; // each entry is one line, since their number is limited
  TextTable table(to, style);
  writeEntries(table, report);
  size_t shown = 0;
  for (const NumberedFinding &numbered : numberedFindings(report, 1)) {
    const Finding &finding = *numbered.finding;
    if (finding.concern != Concern::Memory || finding.confidence == Confidence::Hint || shown++ >= kShortFindings)
      continue;
    const std::string kind = printable(finding.kind) + " at ";
    const size_t before = kBeforePlace + widthOf(kind);
    to << fmt::format("{:>19}  {}{}\n", bytesText(finding.bytes), kind,
                      wholePlaceOf(finding.site, std::max(columns, before + kLeastPlace) - before));
  }
  const std::string more = fmt::format("msleaks report {}", printable(report.run));
  if (const size_t notes = report.damage.size() + report.notes.size(); notes != 0)
    table.entry("note", fmt::format("{}: {}", notes, more));
  else
    table.entry("more", more);
}

} // namespace msleaks::analysis::inline text
