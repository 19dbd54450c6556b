#include "screen_findings.h"

#include "finding_title.h"
#include "text_format.h"

#include <algorithm>
#include <fmt/format.h>

namespace msleaks::analysis {
namespace {

constexpr uint64_t kOneIn = 20;
constexpr size_t kLeastLines = 3;

uint64_t peakOf(const Report &report, abi::Heap heap) {
  const auto &heaps = report.peak.by_heap;
  const auto of = std::find_if(heaps.begin(), heaps.end(), [&](const HeapPeak &peak) { return peak.heap == heap; });
  return of == heaps.end() ? report.peak.bytes : of->bytes;
}

bool grows(const Finding &finding) {
  return finding.kind == "growth" || numberIn(finding, kGrowthEvidence).has_value();
}

// The blocks of a FILE that was not closed are a leak, which the finding about the handle tells.
bool isCountedLeak(const Finding &finding) {
  const bool is_leak = finding.kind == "leak" || (finding.kind == "handles" && numberIn(finding, "keeps_bytes"));
  return is_leak && finding.confidence < Confidence::Hint;
}

bool isMuch(uint64_t bytes, uint64_t peak) { return bytes != 0 && bytes >= peak / kOneIn; }

bool matters(const Finding &finding, const Report &report, const TableStyle &style) {
  if (grows(finding) || !finding.analyzer.empty() || finding.concern == Concern::Content || isCountedLeak(finding))
    return true;
  if (finding.concern == Concern::Refusal)
    return finding.confidence < Confidence::Hint || isMuch(finding.bytes, report.peak.bytes);
  if (finding.concern != Concern::Memory)
    return false;
  // With --min, the user says what is much.
  return style.least_bytes != 0 || isMuch(finding.saves_bytes, peakOf(report, finding.heap));
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
    if (!finding.closed_library.empty() && !grows(finding))
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

// The first findings get all their lines, as long as the others keep three each.
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

} // namespace msleaks::analysis
