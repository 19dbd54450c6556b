#include "msleaks/analysis/report.h"

#include "callers.h"
#include "text_format.h"

#include <algorithm>
#include <fmt/format.h>
#include <ostream>

namespace msleaks::analysis {
namespace {

constexpr size_t kLeastColumns = 50;
constexpr size_t kMaxNotes = 12;
constexpr size_t kShortLeaks = 3; // with at most seven entries, the short form stays within twelve lines

std::string blocksText(uint64_t count) { return countText(count) + (count == 1 ? " block" : " blocks"); }

// One row of a list: some lines, so that places and names have room in 80 columns.
struct Row {
  uint64_t bytes, count;
  std::string middle; // per cent, or age
  const SiteLine *line;
};

// What the callers above do not say.
std::string otherPathsText(const SiteLine &line, const std::vector<CallersText> &shown) {
  uint64_t others = line.paths.size() + line.more_paths, bytes = line.bytes;
  for (const CallersText &path : shown) {
    others -= path.paths;
    bytes -= path.bytes;
  }
  if (others == 0 || line.bytes == 0)
    return "";
  return fmt::format("and {} more path{} with {}", countText(others), others == 1 ? "" : "s",
                     percentText(bytes, line.bytes));
}

class Table {
public:
  Table(std::ostream &out, const TableStyle &style)
      : out_(out), style_(style), columns_(std::max(style.columns, kLeastColumns)) {}

  void heading(const std::string &text) {
    out_ << (style_.color ? fmt::format("\n\x1b[1m{}\x1b[0m\n", text) : fmt::format("\n{}\n", text));
  }
  // Words at the left, text wrapped behind them.
  void entry(const char *word, std::string text) {
    const std::string start = fmt::format("{:<8}", word);
    out_ << (style_.color ? fmt::format("\x1b[1m{}\x1b[0m", start) : start);
    size_t at = start.size();
    for (std::string_view rest = text; !rest.empty();) {
      const size_t space = rest.find(' ');
      const std::string_view piece = rest.substr(0, space);
      if (at > start.size() && at + 1 + widthOf(piece) > columns_) {
        out_ << '\n' << std::string(start.size(), ' ');
        at = start.size();
      } else if (at > start.size()) {
        out_ << ' ';
        ++at;
      }
      out_ << piece;
      at += widthOf(piece);
      rest.remove_prefix(space == std::string_view::npos ? rest.size() : space + 1);
    }
    out_ << '\n';
  }
  void rows(const std::vector<Row> &rows) {
    const size_t shown = std::min(rows.size(), style_.top);
    for (size_t i = 0; i < shown; ++i)
      row(rows[i]);
    uint64_t bytes = 0, count = 0;
    for (size_t i = shown; i < rows.size(); ++i) {
      bytes += rows[i].bytes;
      count += rows[i].count;
    }
    if (shown < rows.size())
      out_ << start(bytes, count, "")
           << fmt::format("{} more place{}\n", rows.size() - shown, rows.size() - shown == 1 ? "" : "s");
  }
  void names(const std::vector<NamedLine> &lines, uint64_t whole, const char *unknown) {
    const size_t shown = std::min(lines.size(), style_.top);
    for (size_t i = 0; i < shown; ++i) {
      const std::string begin = start(lines[i].bytes, lines[i].count, percentText(lines[i].bytes, whole));
      const std::string name = lines[i].name.empty() ? unknown : printable(lines[i].name);
      out_ << begin << shortPath(name, columns_ - begin.size()) << '\n';
    }
    if (shown < lines.size())
      out_ << std::string(kIndent, ' ') << fmt::format("{} more\n", lines.size() - shown);
  }

private:
  static constexpr size_t kIndent = 33;

  static std::string start(uint64_t bytes, uint64_t count, const std::string &middle) {
    return fmt::format("{:>11}  {:>8}  {:>8}  ", bytesText(bytes), middle, countText(count));
  }
  void row(const Row &row) {
    const size_t room = columns_ - kIndent;
    SiteText site = row.line->site;
    if (site.type.empty())
      site.type = row.line->allocator.type;
    out_ << start(row.bytes, row.count, row.middle) << placeOf(site, room) << '\n';
    const std::string child = row.line->child.empty() ? "" : "in child process " + printable(row.line->child);
    for (const std::string &line : {nameOf(site, room), userPlaceOf(site, room), cutEnd(child, room)})
      more(line);
    const std::vector<CallersText> paths = callersOf(*row.line, room);
    for (const CallersText &path : paths)
      for (const std::string &line : path.lines)
        more(line);
    more(otherPathsText(*row.line, paths));
  }
  void more(const std::string &line) {
    if (!line.empty())
      out_ << std::string(kIndent, ' ') << line << '\n';
  }

  std::ostream &out_;
  TableStyle style_;
  size_t columns_;
};

// "8.00 MiB device, 1.20 MiB host": what the heaps had at their own highest points.
std::string heapsText(const PeakReport &peak) {
  if (peak.by_heap.size() < 2)
    return "";
  std::string text;
  for (const HeapPeak &heap : peak.by_heap)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", bytesText(heap.bytes), abi::nameOf(heap.heap));
  return fmt::format(" (highest of each heap: {})", text);
}

void writePeakEntry(Table &table, const Report &report) {
  const PeakReport &peak = report.peak;
  if (peak.bytes == 0)
    return table.entry("peak", "nothing was allocated");
  const uint64_t since_ns = peak.time_ns > report.start_ns ? peak.time_ns - report.start_ns : 0;
  table.entry("peak", fmt::format("{} at {} after the start{}", bytesText(peak.bytes), durationText(since_ns),
                                  heapsText(peak)));
}

void writeRemainsEntry(Table &table, const char *word, const RemainsReport &remains, const char *none) {
  if (remains.empty()) {
    if (none)
      table.entry(word, none);
    return;
  }
  std::string text =
      fmt::format("{} in {} from {} place{}", bytesText(remains.sum.bytes), blocksText(remains.sum.count),
                  countText(remains.by_site.size()), remains.by_site.size() == 1 ? "" : "s");
  if (remains.pool_sum.count != 0)
    text += fmt::format("; in pools {} in {}", bytesText(remains.pool_sum.bytes), blocksText(remains.pool_sum.count));
  table.entry(word, text);
}

std::string eventsText(const Report &report) {
  const EventAccount &events = report.events;
  std::string text;
  if (events.dropped != 0)
    text = fmt::format("{} of {} DROPPED, {} stored: not exact, a block whose free was dropped looks leaked",
                       countText(events.dropped), countText(events.produced), countText(events.stored));
  else if (events.missing != 0)
    text =
        fmt::format("{} stored, {} MISSING: see damage and notes", countText(events.stored), countText(events.missing));
  else if (!report.damage.empty())
    text = fmt::format("{} stored, the trace is DAMAGED", countText(events.stored));
  else if (!report.closed)
    text = fmt::format("{} stored, NOT ALL: the session was killed or still runs", countText(events.stored));
  else if (const auto unseen = report.unseenProcesses(); unseen != 0)
    text = fmt::format("{}; nothing of {} process{}", countText(events.stored), unseen, unseen == 1 ? "" : "es");
  else
    text = fmt::format("{}, complete", countText(events.stored));
  if (events.stalled_ns != 0)
    text += fmt::format("; threads waited {}", durationText(events.stalled_ns));
  return text;
}

// Place and name in one line, the user's own place if there is one; the name as far as there is room.
std::string wholePlaceOf(const SiteText &site, size_t columns) {
  constexpr size_t kLeastName = 12;
  if (std::string user = userPlaceOf(site, columns); !user.empty())
    return user;
  std::string text = placeOf(site, columns);
  if (widthOf(text) + 1 + kLeastName <= columns)
    if (const std::string name = nameOf(site, columns - widthOf(text) - 1); !name.empty())
      text += " " + name;
  return text;
}

void writeEntries(Table &table, const Report &report) {
  writePeakEntry(table, report);
  writeRemainsEntry(table, "leaks", report.leaks, "none");
  writeRemainsEntry(table, "alive", report.alive, nullptr);
  writeRemainsEntry(table, "unsure", report.unsure, nullptr);
  if (!report.suppressed.empty())
    table.entry("", fmt::format("{} in {} known to be harmless, not counted (all: --json)",
                                bytesText(report.suppressed.sum.bytes), blocksText(report.suppressed.sum.count)));
  table.entry("events", eventsText(report));
  if (report.duration_ns != 0)
    table.entry("cost",
                fmt::format("collector {} CPU in {}, {} events/s", durationText(report.collector_cpu_ns),
                            durationText(report.duration_ns), countText(static_cast<uint64_t>(report.events_per_s))));
}

std::vector<Row> rowsOf(const std::vector<SiteLine> &lines, uint64_t whole) {
  std::vector<Row> rows;
  for (const SiteLine &line : lines)
    rows.push_back({line.bytes, line.count, percentText(line.bytes, whole), &line});
  return rows;
}

std::vector<Row> rowsOf(const std::vector<LeakLine> &lines) {
  std::vector<Row> rows;
  for (const LeakLine &line : lines)
    rows.push_back({line.remains.bytes, line.remains.count, durationText(line.remains.oldest_age_ns), &line});
  return rows;
}

void writeRemains(Table &table, const RemainsReport &remains, const char *what) {
  if (!remains.by_site.empty()) {
    table.heading(fmt::format("{:<10}    oldest    blocks  place", what));
    table.rows(rowsOf(remains.by_site));
  }
  if (!remains.pool_by_site.empty()) {
    table.heading(fmt::format("In pools      oldest    blocks  place ({})", what));
    table.rows(rowsOf(remains.pool_by_site));
  }
}

void writeLists(Table &table, const Report &report) {
  const PeakReport &peak = report.peak;
  if (!peak.by_site.empty()) {
    table.heading("At the peak    share    blocks  place");
    table.rows(rowsOf(peak.by_site, peak.bytes));
  }
  if (peak.by_owner.size() > 1) {
    table.heading("At the peak    share    blocks  owner");
    table.names(peak.by_owner, peak.bytes, "(unknown)");
  }
  if (peak.by_type.size() > 1) {
    table.heading("At the peak    share    blocks  type");
    table.names(peak.by_type, peak.bytes, "(unknown)");
  }
  writeRemains(table, report.leaks, "Leaked");
  writeRemains(table, report.alive, "Alive");
  writeRemains(table, report.unsure, "Unsure");
}

void writeNotes(Table &table, const Report &report) {
  for (const auto &[word, lines] : {std::pair("damage", &report.damage), std::pair("note", &report.notes)}) {
    for (size_t i = 0; i < std::min(lines->size(), kMaxNotes); ++i)
      table.entry(word, printable((*lines)[i]));
    if (lines->size() > kMaxNotes)
      table.entry(word, fmt::format("{} more: --json has them all", lines->size() - kMaxNotes));
  }
}

} // namespace

void writeReportTable(std::ostream &to, const Report &report, const TableStyle &style) {
  Table table(to, style);
  writeEntries(table, report);
  writeNotes(table, report);
  writeLists(table, report);
}

void printShortReport(const Report &report, std::ostream &to, size_t columns) {
  constexpr size_t kBeforePlace = 21;
  Table table(to, {.columns = SIZE_MAX, .top = 0, .color = false}); // an entry a line: their number is bounded
  writeEntries(table, report);
  const auto &leaks = report.leaks.by_site;
  for (size_t i = 0; i < std::min(leaks.size(), kShortLeaks); ++i)
    to << fmt::format("{:>19}  {}\n", bytesText(leaks[i].remains.bytes),
                      wholePlaceOf(leaks[i].site, std::max(columns, kLeastColumns) - kBeforePlace));
  const std::string more = fmt::format("msleaks report {}", printable(report.run));
  if (const size_t notes = report.damage.size() + report.notes.size(); notes != 0)
    table.entry("note", fmt::format("{}: {}", notes, more));
  else
    table.entry("more", more);
}

} // namespace msleaks::analysis
