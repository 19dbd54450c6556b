#include "text_parts.h"

#include "analysis/base/base_name.h"
#include "analysis/report/site_text.h"

#include "callers.h"
#include "text_format.h"

#include <algorithm>
#include <fmt/format.h>

namespace msleaks::analysis {
namespace {

// "device 1", "host".
std::string accountText(const Finding &finding) {
  return finding.device == 0 ? std::string(abi::nameOf(finding.heap))
                             : fmt::format("{} {}", abi::nameOf(finding.heap), finding.device);
}

std::string timeText(const Finding &finding) {
  std::string text = fmt::format("about {}", durationText(finding.saves_ns));
  for (const auto &[name, value] : finding.evidence)
    if (const auto *share = std::get_if<double>(&value); share && name == "share_of_time")
      text += fmt::format(", {:.0f}% of the time", 100 * *share);
  return text;
}

std::string refusalText(const Finding &finding) {
  for (const auto &[name, value] : finding.evidence)
    if (const auto *bytes = std::get_if<uint64_t>(&value); bytes && name == "alive_bytes")
      return fmt::format("refused when {} of {} were alive", bytesText(*bytes), accountText(finding));
  return "refused";
}

std::string textIn(const Finding &finding, std::string_view wanted) {
  for (const auto &[name, value] : finding.evidence)
    if (const auto *text = std::get_if<std::string>(&value); text && name == wanted)
      return printable(*text);
  return {};
}

// "trampled: 16 B of weights, by relu": of a block that changed, and was not given to who did it.
std::string changeText(const Finding &finding) {
  const std::string operation = textIn(finding, "operation");
  return fmt::format("{}: {} of {} changed{} ({})", finding.kind, bytesText(finding.bytes), textIn(finding, "block"),
                     operation.empty() ? "" : ", by " + operation, nameOf(finding.confidence));
}

std::string savingText(const Finding &finding) {
  if (finding.concern == Concern::Refusal)
    return refusalText(finding);
  if (finding.concern == Concern::Time)
    return timeText(finding);
  if (finding.saves_bytes == 0)
    return "saves nothing of the peak";
  std::string text = fmt::format("saves {} of the {} peak", bytesText(finding.saves_bytes), accountText(finding));
  if (finding.saves_cumulative_bytes > finding.saves_bytes)
    text += fmt::format(", {} with those above", bytesText(finding.saves_cumulative_bytes));
  return text;
}

// Of a place that grows: ", 2.9 KiB a step".
std::string growthText(const Finding &finding) {
  for (const auto &[name, value] : finding.evidence)
    if (const auto *bytes = std::get_if<uint64_t>(&value); bytes && name == "growth_bytes_per_step")
      return fmt::format(", {} a step", bytesText(*bytes));
  return {};
}

// Of a leak: ", lost".
std::string reachText(const Finding &finding) {
  for (const auto &[name, value] : finding.evidence)
    if (const auto *reach = std::get_if<std::string>(&value); reach && name == "reach" && *reach != "unknown")
      return *reach == "indirect" ? ", lost with others" : ", " + *reach;
  return {};
}

// Of a lost one: ", leads to 2.9 KiB in 3 more".
std::string leadsToText(const Finding &finding) {
  uint64_t bytes = 0, blocks = 0;
  for (const auto &[name, value] : finding.evidence)
    if (const auto *number = std::get_if<uint64_t>(&value); number && name.starts_with("leads_to_"))
      (name == "leads_to_bytes" ? bytes : blocks) = *number;
  return blocks == 0 ? "" : fmt::format(", leads to {} in {} more", bytesText(bytes), blocks);
}

// Who holds its largest block; empty: nobody is known.
std::string holdersText(const Finding &finding) {
  for (const auto &[name, value] : finding.evidence)
    if (const auto *holders = std::get_if<std::vector<std::string>>(&value); holders && name == "holders")
      for (const std::string &holder : *holders)
        return "by " + printable(holder);
  return {};
}

// Place, what it is for, whose code it is in, and who called: what does not fit is left out, the callers first, and
// never the line's number.
std::string whereText(const Finding &finding, size_t room) {
  constexpr size_t kWidestPlace = 60, kWidestCaller = 60;
  SiteText site = finding.site;
  if (site.type.empty())
    site.type = finding.allocator.type;
  std::string text =
      finding.closed_library.empty() ? "" : fmt::format("{}, most at ", printable(baseName(finding.closed_library)));
  text += placeOf(site, std::min(room / 2, kWidestPlace));
  if (const std::string name = nameOf(site, std::min(room - widthOf(text) - 1, kWidestName)); !name.empty())
    text += " " + name;
  std::vector<std::string> more;
  if (!finding.owner.empty())
    more.push_back(fmt::format("[{}]", printable(baseName(finding.owner))));
  for (const CallersText &path : callersOf(finding, kWidestCaller)) {
    more.insert(more.end(), path.lines.begin(), path.lines.end());
    break; // the others are in the tables
  }
  for (const std::string &piece : more) {
    if (widthOf(text) + 1 + widthOf(piece) > room)
      break;
    text += " " + piece;
  }
  return text;
}

// "handles: 1,000 of FILE, never given back (likely)"
std::string handlesText(const Finding &finding) {
  return fmt::format("{}: {} of {}, never given back ({})", finding.kind, countText(finding.count), finding.part,
                     nameOf(finding.confidence));
}

std::string whatText(const Finding &finding) {
  if (finding.concern == Concern::Handles)
    return handlesText(finding);
  if (finding.concern == Concern::Content)
    return changeText(finding);
  return fmt::format("{}: {} in {}{}{}, {} ({})", finding.kind, bytesText(finding.bytes), blocksText(finding.count),
                     reachText(finding) + leadsToText(finding), growthText(finding), savingText(finding),
                     nameOf(finding.confidence));
}

// What and how much it saves; where, whose, and on what path; what to do.
void writeFinding(TextTable &table, size_t number, const Finding &finding) {
  constexpr size_t kIndent = 4;
  table.paragraph(fmt::format("{:<{}}", fmt::format("{}.", number), kIndent), whatText(finding));
  table.line(std::string(kIndent, ' ') + whereText(finding, table.columns() - kIndent));
  if (const std::string holders = holdersText(finding); !holders.empty())
    table.paragraph(std::string(kIndent, ' '), holders);
  table.paragraph(std::string(kIndent, ' '), finding.advice);
}

} // namespace

void writeFindings(TextTable &table, const Report &report) {
  const size_t most = std::min<size_t>(10, table.style().top);
  std::vector<const Finding *> shown;
  for (const Finding &finding : report.findings)
    if (!finding.retracted && finding.bytes >= table.style().least_bytes)
      shown.push_back(&finding);
  if (shown.empty() || most == 0)
    return;
  table.heading(fmt::format("Findings{}",
                            shown.size() > most ? fmt::format(" ({} of {}; all: --json)", most, shown.size()) : ""));
  for (size_t i = 0; i < std::min(shown.size(), most); ++i)
    writeFinding(table, i + 1, *shown[i]);
}

} // namespace msleaks::analysis
