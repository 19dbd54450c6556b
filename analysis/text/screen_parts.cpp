#include "analysis/text/screen_parts.h"

#include "analysis/base/text.h"
#include "analysis/findings/keeper.h"
#include "analysis/result/finding_kinds.h"
#include "analysis/text/finding_title.h"
#include "analysis/text/parts.h"
#include "analysis/text/report_text.h"
#include "analysis/text/site_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace msleaks::analysis::inline text {
namespace {

constexpr uint64_t kOneIn = 20;
constexpr size_t kLeastLines = 3;

// Returns the peak of the finding's heap. If several devices have memory in this heap, returns the peak on the
// finding's device.
uint64_t peakOf(const Report &report, const Finding &finding) {
  const HeapPeak *const of = peakOf(report, finding.heap);
  if (of == nullptr)
    return report.peak.bytes;
  const auto on = std::find_if(of->by_device.begin(), of->by_device.end(),
                               [&](const DevicePeak &peak) { return peak.device == finding.device; });
  return on == of->by_device.end() ? of->bytes : on->bytes;
}

bool grows(const Finding &finding) {
  return isOf(finding, finding_kinds::kGrowth) || numberIn(finding, kGrowthEvidence).has_value();
}

// Whether the finding counts as a leak. The blocks of a FILE that was not closed are a leak, which is reported in the
// finding about the handle.
bool isCountedLeak(const Finding &finding) {
  const bool is_leak = isOf(finding, finding_kinds::kLeak) ||
                       (isOf(finding, finding_kinds::kHandles) && numberIn(finding, "keeps_bytes"));
  return is_leak && finding.confidence < Confidence::Hint;
}

bool isMuch(uint64_t bytes, uint64_t peak) { return bytes != 0 && bytes >= peak / kOneIn; }

bool matters(const Finding &finding, const Report &report, const TableStyle &style) {
  if (grows(finding) || !finding.analyzer.empty() || finding.concern == Concern::Content || isCountedLeak(finding) ||
      isOutsideOfPeak(finding))
    return true;
  if (finding.concern == Concern::Refusal)
    return finding.confidence < Confidence::Hint || isMuch(finding.bytes, report.peak.bytes);
  if (finding.concern != Concern::Memory)
    return false;
  // With --min, the user decides which bytes are much.
  return style.least_bytes != 0 || isMuch(finding.saves_bytes, peakOf(report, finding));
}

void add(ScreenFindings::Sum &sum, const Finding &finding) {
  ++sum.count;
  sum.bytes += finding.concern == Concern::Memory ? finding.bytes : 0;
}

std::string inParentheses(uint64_t bytes) { return bytes == 0 ? "" : fmt::format(" ({})", bytesText(bytes)); }

std::string restText(const ScreenFindings &findings) {
  const ScreenFindings::Sum &others = findings.others, &smaller = findings.smaller;
  std::string text;
  if (others.count != 0)
    text = fmt::format("{} {}{}", countText(others.count), findings.shown.empty() ? "that matter" : "more like these",
                       inParentheses(others.bytes));
  if (smaller.count != 0)
    text += fmt::format("{}{} smaller finding{}{}", text.empty() ? "" : ", ", countText(smaller.count),
                        smaller.count == 1 ? "" : "s", inParentheses(smaller.bytes));
  return text.empty() ? text : text + ": --section findings";
}

} // namespace

ScreenFindings screenFindings(const Report &report, const TableStyle &style) {
  ScreenFindings findings;
  for (NumberedFinding &numbered : numberedFindings(report, style.least_bytes)) {
    const Finding &finding = *numbered.finding;
    if (isKeptByLibrary(finding) && !grows(finding))
      continue;
    if (!matters(finding, report, style))
      add(findings.smaller, finding);
    else if (findings.shown.size() == style.top)
      add(findings.others, finding);
    else
      findings.shown.push_back(std::move(numbered));
  }
  return findings;
}

void keepThoseThatFit(ScreenFindings &findings, size_t room) {
  while (findings.shown.size() > 1 && findings.shown.size() * kLeastLines > room) {
    add(findings.others, *findings.shown.back().finding);
    findings.shown.pop_back();
  }
}

// The first findings get all their lines, as long as three lines remain for each of the others.
void writeScreenFindings(TextTable &table, const ScreenFindings &findings, size_t room) {
  table.heading("Findings");
  const std::string rest = restText(findings);
  if (findings.shown.empty())
    table.line(cutEnd(rest.empty() ? "none: no leak, no growth, and nothing that would lower the peak by a twentieth"
                                   : (findings.others.count == 0 ? "none that matters; " : "") + rest,
                      table.columns()));
  size_t left = room;
  for (size_t i = 0; i < findings.shown.size(); ++i) {
    const size_t for_others = (findings.shown.size() - i - 1) * kLeastLines;
    const size_t most = std::max(left - std::min(left, for_others), kLeastLines);
    const std::vector<std::string> lines = fewLinesOf(findings.shown[i], table.columns(), most);
    for (const std::string &line : lines)
      table.line(line);
    left -= std::min(left, lines.size());
  }
  if (!findings.shown.empty() && !rest.empty())
    table.line(cutEnd(rest, table.columns()));
}

namespace {

// The sum of all places of a library or of a child process.
struct PlacesOfOne {
  std::string name;
  TableRow row;
  uint64_t places = 0, largest_bytes = 0;
  const SiteLine *largest = nullptr;
};
using PlacesByName = std::map<std::string, PlacesOfOne>;

void addTo(PlacesByName &places, const std::string &name, const SiteLine &line, const BlockSum &sum) {
  PlacesOfOne &of = places[name];
  of.name = name;
  of.row.bytes += sum.bytes;
  of.row.count += sum.count;
  ++of.places;
  if (!of.largest || sum.bytes > of.largest_bytes) {
    of.largest = &line;
    of.largest_bytes = sum.bytes;
  }
}

std::vector<PlacesOfOne> largestFirst(const PlacesByName &places) {
  std::vector<PlacesOfOne> list;
  for (const auto &[name, of] : places)
    list.push_back(of);
  std::stable_sort(list.begin(), list.end(), [](const auto &a, const auto &b) { return a.row.bytes > b.row.bytes; });
  return list;
}

std::string shownLibrary(std::string_view path) { return path.empty() ? "(unknown)" : printable(baseName(path)); }

// Moves blocks that closed libraries allocated for themselves from the user's own place to the libraries. Returns the
// other blocks.
BlockSum takeLibraries(const SiteLine &line, PlacesByName &libraries) {
  BlockSum left{line.bytes, line.count};
  std::map<std::string_view, BlockSum> taken;
  for (const PathLine &path : line.paths)
    if (const std::string_view library = closedLibraryOf(path); !library.empty()) {
      const BlockSum sum{std::min(path.bytes, left.bytes), std::min(path.count, left.count)};
      taken[library] += sum;
      left = {left.bytes - sum.bytes, left.count - sum.count};
    }
  for (const auto &[library, sum] : taken)
    addTo(libraries, shownLibrary(library), line, sum);
  return left;
}

std::string placeText(const SiteLine &line, size_t room) {
  SiteText site = line.site;
  if (site.type.empty())
    site.type = line.allocator.type;
  const std::string user = userPlaceOf(site, room);
  return user.empty() ? placeAndNameOf(site, room) : user;
}

// Returns a row such as "libc10.so: 9 places, most in c10::alloc_cpu(...)". The function is named if its place has half
// of the bytes.
TableRow rowOf(const PlacesOfOne &of, size_t room) {
  TableRow row = of.row;
  row.text = of.name;
  if (of.places > 1)
    row.text += fmt::format(": {} places", countText(of.places));
  const bool is_most = of.largest_bytes >= of.row.bytes / 2;
  const std::string function = is_most ? of.largest->site.function : "";
  const std::string before = of.places > 1 ? ", most in " : ": in ";
  constexpr size_t kLeastName = 8;
  if (const size_t taken = widthOf(row.text) + before.size(); !function.empty() && taken + kLeastName <= room)
    row.text += before + shortFunction(function, room - taken);
  row.text = cutMiddle(row.text, room);
  return row;
}

// Returns one row for all libraries: "kept by libraries: libtorch_cpu.so 35.0 MiB, python3.11 12.1 MiB, ...".
TableRow rowOfAll(const std::vector<PlacesOfOne> &libraries, size_t room) {
  constexpr std::string_view kMore = ", ...";
  TableRow row;
  row.foreign = true;
  row.text = "kept by libraries";
  bool fits = true;
  for (const PlacesOfOne &of : libraries) {
    row.bytes += of.row.bytes;
    row.count += of.row.count;
    const bool is_first = &of == &libraries.front(), is_last = &of == &libraries.back();
    const std::string piece = fmt::format("{}{} {}", is_first ? ": " : ", ", of.name, bytesText(of.row.bytes));
    fits = fits && widthOf(row.text) + widthOf(piece) + (is_last ? 0 : kMore.size()) <= room;
    if (fits)
      row.text += piece;
  }
  if (!fits)
    row.text += kMore;
  row.text = cutEnd(row.text, room);
  return row;
}

void writePlaces(TextTable &table, const std::string &heading, const std::vector<SiteLine> &lines, uint64_t whole) {
  const size_t room = table.roomForText();
  std::vector<TableRow> rows;
  PlacesByName libraries, children;
  for (const SiteLine &line : lines) {
    if (!line.child.empty())
      addTo(children, "child process " + printable(line.child), line, {line.bytes, line.count});
    else if (!line.own)
      addTo(libraries, shownLibrary(line.site.library), line, {line.bytes, line.count});
    else if (const BlockSum own = takeLibraries(line, libraries); own.count != 0)
      rows.push_back({.bytes = own.bytes, .count = own.count, .text = placeText(line, room)});
  }
  for (const PlacesOfOne &of : largestFirst(children))
    rows.push_back(rowOf(of, room));
  const std::vector<PlacesOfOne> sorted = largestFirst(libraries);
  const bool has_only_libraries = rows.empty();
  if (has_only_libraries)
    for (const PlacesOfOne &of : sorted)
      rows.push_back(rowOf(of, room));
  std::stable_sort(rows.begin(), rows.end(), [](const auto &a, const auto &b) { return a.bytes > b.bytes; });
  if (!has_only_libraries && !sorted.empty())
    rows.push_back(rowOfAll(sorted, room));
  table.heading(heading);
  table.rows("place", std::move(rows), whole, "place");
}

} // namespace

void writeScreenPlaces(TextTable &table, const Report &report) {
  if (!report.peak.by_site.empty())
    writePlaces(table, headingOfPeak(report), report.peak.by_site, report.peak.bytes);
}

void writeScreenPools(TextTable &table, const Report &report) {
  const HeapPeak *const pools = peakOfPools(report);
  if (pools != nullptr && isMuch(pools->bytes, report.peak.bytes))
    writePlaces(table, headingOfPools(report), pools->by_site, pools->bytes);
}

} // namespace msleaks::analysis::inline text
