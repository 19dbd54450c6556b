#include "text_parts.h"

#include "analysis/base/base_name.h"
#include "analysis/report/site_text.h"

#include "callers.h"
#include "finding_title.h"
#include "text_format.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace msleaks::analysis {
namespace {

constexpr size_t kIndent = 4, kWidestPiece = 100;
constexpr size_t kShownLed = 3;

// Place, function, what it is for, and whose code it is in.
std::vector<std::string> wherePieces(const Finding &finding, size_t room) {
  SiteText site = finding.site;
  if (site.type.empty())
    site.type = finding.allocator.type;
  std::vector<std::string> pieces;
  if (!finding.closed_library.empty())
    pieces.push_back(fmt::format("{}, most at", printable(baseName(finding.closed_library))));
  pieces.push_back(placeOf(site, room));
  pieces.push_back(nameOf(site, std::min(room, kWidestName)));
  if (!finding.owner.empty())
    pieces.push_back(fmt::format("[{}]", cutMiddle(printable(baseName(finding.owner)), room - 2)));
  std::erase(pieces, std::string());
  return pieces;
}

// A lost block, and those that only it leads to.
using LedBy = std::map<const Finding *, std::vector<const Finding *>>;

std::vector<std::string> ledPieces(const std::vector<const Finding *> &led, size_t room) {
  std::vector<std::string> pieces;
  for (size_t i = 0; i < std::min(led.size(), kShownLed); ++i) {
    SiteText site = led[i]->site;
    if (site.type.empty())
      site.type = led[i]->allocator.type;
    const std::string size = fmt::format("with {} in {} of ", bytesText(led[i]->bytes), blocksText(led[i]->count));
    const std::string place = placeOf(site, room / 2);
    const size_t taken = widthOf(size) + widthOf(place) + 1;
    pieces.push_back(size + place + " " + nameOf(site, std::max(room, taken + 8) - taken));
  }
  if (led.size() > kShownLed)
    pieces.push_back(fmt::format("with blocks of {} more places", led.size() - kShownLed));
  return pieces;
}

// A name without blanks may be as long as a symbol is. Words of a finding that are wider than a line are cut.
std::string fitting(const std::string &text, size_t room) {
  std::string fit;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t space = rest.find(' ');
    fit += (fit.empty() ? "" : " ") + cutMiddle(rest.substr(0, space), room);
    rest.remove_prefix(space == std::string_view::npos ? rest.size() : space + 1);
  }
  return fit;
}

// Writes the title, the place with its callers, the holders, and the last line: savings and advice.
void writeFinding(TextTable &table, size_t number, const Finding &finding, const std::vector<const Finding *> &led) {
  const std::string indent(kIndent, ' ');
  const size_t room = table.columns() - kIndent;
  table.paragraph(fmt::format("{:<{}}", fmt::format("{}.", number), kIndent), fitting(titleOf(finding), room));
  table.pieces(indent, wherePieces(finding, room));
  for (CallersText &path : callersOf(finding, std::min(room, kWidestPiece))) {
    for (std::string &line : path.lines)
      line.erase(0, path.share.size());
    table.pieces(indent + path.share, path.lines);
  }
  if (const std::string holders = holdersOf(finding); holders.find(" → ") != std::string::npos)
    table.paragraph(indent, fitting("held by " + holders, room));
  for (const std::string &piece : ledPieces(led, room))
    table.line(indent + piece);
  const std::string saving = savingOf(finding);
  table.paragraph(indent, fitting(saving + (saving.empty() ? "" : " ") + printable(finding.advice), room));
}

bool isIndirect(const Finding &finding) { return finding.kind == "leak" && textIn(finding, "reach") == "indirect"; }

// Takes those out of the list that stand behind the lost block that leads to them.
LedBy takeLed(std::vector<std::pair<size_t, const Finding *>> &shown) {
  std::map<uint32_t, const Finding *> heads;
  for (const auto &[number, finding] : shown)
    if (finding->family != 0 && !isIndirect(*finding))
      heads.try_emplace(finding->family, finding);
  LedBy led;
  std::erase_if(shown, [&](const auto &each) {
    const auto head = isIndirect(*each.second) ? heads.find(each.second->family) : heads.end();
    if (head != heads.end())
      led[head->second].push_back(each.second);
    return head != heads.end();
  });
  return led;
}

} // namespace

void writeFindings(TextTable &table, const Report &report) {
  const size_t most = std::min<size_t>(10, table.style().top);
  std::vector<std::pair<size_t, const Finding *>> shown; // with the number by which `msleaks verify` knows it
  for (size_t i = 0; i < report.findings.size(); ++i)
    if (const Finding &finding = report.findings[i]; !finding.retracted && finding.bytes >= table.style().least_bytes)
      shown.emplace_back(i + 1, &finding);
  const LedBy led = takeLed(shown);
  if (shown.empty() || most == 0)
    return;
  table.heading(fmt::format("Findings{}",
                            shown.size() > most ? fmt::format(" ({} of {}; all: --json)", most, shown.size()) : ""));
  for (size_t i = 0; i < std::min(shown.size(), most); ++i) {
    const auto of = led.find(shown[i].second);
    writeFinding(table, shown[i].first, *shown[i].second,
                 of == led.end() ? std::vector<const Finding *>() : of->second);
  }
}

} // namespace msleaks::analysis
