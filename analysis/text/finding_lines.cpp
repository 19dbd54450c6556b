#include "analysis/text/finding_lines.h"

#include "analysis/base/text.h"
#include "analysis/places/function_name.h"
#include "analysis/result/finding_kinds.h"
#include "analysis/text/callers.h"
#include "analysis/text/finding_title.h"
#include "analysis/text/parts.h"
#include "analysis/text/site_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <sstream>

namespace msleaks::analysis::inline text {
namespace {

constexpr size_t kIndent = 4, kWidestPiece = 100;
constexpr size_t kShownLed = 3;

SiteText namedSite(const Finding &finding) {
  SiteText site = finding.site;
  if (site.type.empty())
    site.type = finding.allocator.type;
  return site;
}

// The module of PyTorch. A report that is read back has it in the evidence only.
std::string moduleText(const Finding &finding, size_t room) {
  for (const auto &[name, value] : finding.evidence)
    if (const auto *module = std::get_if<std::string>(&value); module && name == "module")
      return fmt::format("in module {}", cutMiddle(printable(*module), room - 10));
  return "";
}

// The line of the forward pass for which a backward pass has allocated the blocks.
std::string forwardText(const Finding &finding, size_t room) {
  constexpr std::string_view kWhose = "for the forward line ";
  for (const auto &[name, value] : finding.evidence)
    if (const auto *line = std::get_if<FrameText>(&value); line && name == "forward") {
      SiteText site;
      static_cast<FrameText &>(site) = *line;
      return std::string(kWhose) + placeAndNameOf(site, room - kWhose.size());
    }
  return "";
}

std::string ownerText(const Finding &finding, size_t room) {
  return finding.owner.empty() ? "" : fmt::format("[{}]", cutMiddle(printable(baseName(finding.owner)), room - 2));
}

// Returns the pieces of the line about the place: place, function, what the block is for, and whose code it is.
std::vector<std::string> wherePieces(const Finding &finding, size_t room) {
  const SiteText site = namedSite(finding);
  std::vector<std::string> pieces;
  if (!finding.closed_library.empty())
    pieces.push_back(fmt::format("{}, most at", printable(baseName(finding.closed_library))));
  pieces.push_back(placeOf(site, room));
  pieces.push_back(nameOf(site, std::min(room, kWidestName)));
  pieces.push_back(ownerText(finding, room));
  pieces.push_back(moduleText(finding, room));
  pieces.push_back(forwardText(finding, room));
  std::erase(pieces, std::string());
  return pieces;
}

std::vector<std::string> ledPieces(const std::vector<const Finding *> &led, size_t room) {
  std::vector<std::string> pieces;
  for (size_t i = 0; i < std::min(led.size(), kShownLed); ++i) {
    const SiteText site = namedSite(*led[i]);
    const std::string size = fmt::format("with {} in {} of ", bytesText(led[i]->bytes), blocksText(led[i]->count));
    const std::string place = placeOf(site, room / 2);
    const size_t taken = widthOf(size) + widthOf(place) + 1;
    pieces.push_back(size + place + " " + nameOf(site, std::max(room, taken + 8) - taken));
  }
  if (led.size() > kShownLed)
    pieces.push_back(fmt::format("with blocks of {} more places", led.size() - kShownLed));
  return pieces;
}

// Cuts words that are wider than a line: a name without blanks may be as long as a symbol.
std::string fitting(const std::string &text, size_t room) {
  std::string fit;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t space = rest.find(' ');
    fit += (fit.empty() ? "" : " ") + cutMiddle(rest.substr(0, space), room);
    rest.remove_prefix(space == std::string_view::npos ? rest.size() : space + 1);
  }
  return fit;
}

// Returns the lines that `write` writes.
std::vector<std::string> written(size_t columns, const std::function<void(TextTable &)> &write) {
  std::ostringstream out;
  TextTable table(out, {.columns = columns});
  write(table);
  std::istringstream in(out.str());
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);)
    lines.push_back(std::move(line));
  return lines;
}

std::string lastText(const Finding &finding) {
  const std::string saving = savingOf(finding);
  return saving + (saving.empty() ? "" : " ") + plainName(printable(finding.advice));
}

bool isIndirect(const Finding &finding) {
  return isOf(finding, finding_kinds::kLeak) && textIn(finding, "reach") == "indirect";
}

// Keeps the first `count` lines. If there were more, the last one ends with "...".
void keepLines(std::vector<std::string> &lines, size_t count, size_t columns) {
  if (lines.size() <= count)
    return;
  lines.resize(count);
  if (count != 0)
    lines.back() = cutEnd(lines.back() + " ...", columns);
}

// Returns "cache.c:8 in remember (struct node) [server] < cache.c:20 in answer": one line, with as many of the pieces
// after the name as fit.
std::string whereInOneLine(const Finding &finding, size_t columns) {
  const size_t room = columns - kIndent;
  std::string line = placeAndNameOf(namedSite(finding), room);
  std::vector<std::string> more{ownerText(finding, room)};
  const std::vector<CallersText> paths = callersOf(finding, std::min(room, kWidestPiece));
  if (!paths.empty() && paths.front().share.empty())
    more.insert(more.end(), paths.front().lines.begin(), paths.front().lines.end());
  std::erase(more, std::string());
  for (const std::string &piece : more) {
    if (widthOf(line) + 1 + widthOf(piece) > room)
      break;
    line += " " + piece;
  }
  return std::string(kIndent, ' ') + line;
}

// Returns the advice in one line. The savings are left out first, because the title already shows the bytes.
std::string lastInOneLine(const Finding &finding, size_t columns) {
  const size_t room = columns - kIndent;
  const std::string advice = plainName(printable(finding.advice)), whole = lastText(finding);
  return std::string(kIndent, ' ') +
         (widthOf(whole) <= room || advice.empty() ? cutEnd(whole, room) : cutEnd(advice, room));
}

} // namespace

std::vector<NumberedFinding> numberedFindings(const AnalysisResult &result, uint64_t least_bytes) {
  std::vector<NumberedFinding> shown;
  std::map<uint32_t, const Finding *> heads; // by family
  const auto isShown = [&](const Finding &finding) { return !finding.retracted && finding.bytes >= least_bytes; };
  for (const Finding &finding : result.findings)
    if (isShown(finding) && finding.family != 0 && !isIndirect(finding))
      heads.try_emplace(finding.family, &finding);
  const auto headOf = [&](const Finding &finding) -> const Finding * {
    const auto head = heads.find(finding.family);
    const bool may_follow = isIndirect(finding) || isOf(finding, finding_kinds::kGrowth);
    return may_follow && head != heads.end() && head->second != &finding ? head->second : nullptr;
  };
  std::map<const Finding *, size_t> places; // in `shown`
  for (size_t i = 0; i < result.findings.size(); ++i) {
    const Finding &finding = result.findings[i];
    if (!isShown(finding) || headOf(finding) != nullptr)
      continue;
    places.emplace(&finding, shown.size());
    shown.push_back({i + 1, &finding, {}});
  }
  for (const Finding &finding : result.findings)
    if (const Finding *head = isShown(finding) ? headOf(finding) : nullptr)
      shown[places.at(head)].led.push_back(&finding);
  return shown;
}

size_t FindingLines::count() const {
  return title.size() + where.size() + callers.size() + holders.size() + led.size() + last.size();
}

std::vector<std::string> FindingLines::all() const {
  std::vector<std::string> lines;
  for (const auto *part : {&title, &where, &callers, &holders, &led, &last})
    lines.insert(lines.end(), part->begin(), part->end());
  return lines;
}

FindingLines linesOf(const NumberedFinding &numbered, size_t columns) {
  const Finding &finding = *numbered.finding;
  const std::string indent(kIndent, ' ');
  const size_t room = columns - kIndent;
  FindingLines lines;
  const std::string number = fmt::format("{:<{}}", fmt::format("{}. ", numbered.number), kIndent);
  lines.title = written(
      columns, [&](TextTable &table) { table.paragraph(number, fitting(titleOf(finding), columns - number.size())); });
  lines.where = written(columns, [&](TextTable &table) { table.pieces(indent, wherePieces(finding, room)); });
  for (CallersText &path : callersOf(finding, std::min(room, kWidestPiece))) {
    for (std::string &line : path.lines)
      line.erase(0, path.share.size());
    for (std::string &line : written(columns, [&](TextTable &table) { table.pieces(indent + path.share, path.lines); }))
      lines.callers.push_back(std::move(line));
  }
  if (const std::string holders = holdersOf(finding); holders.find(" → ") != std::string::npos)
    lines.holders =
        written(columns, [&](TextTable &table) { table.paragraph(indent, fitting("held by " + holders, room)); });
  for (const std::string &piece : ledPieces(numbered.led, room))
    lines.led.push_back(indent + piece);
  lines.last = written(columns, [&](TextTable &table) { table.paragraph(indent, fitting(lastText(finding), room)); });
  return lines;
}

std::vector<std::string> fewLinesOf(const NumberedFinding &numbered, size_t columns, size_t most) {
  constexpr size_t kLeast = 3;
  FindingLines lines = linesOf(numbered, columns);
  if (lines.count() <= most)
    return lines.all();
  size_t left = most - std::min(most, kLeast);
  const auto take = [&left](size_t wanted) {
    const size_t taken = std::min(left, wanted);
    left -= taken;
    return taken;
  };
  const auto keep = [&](std::vector<std::string> &part, size_t least) {
    keepLines(part, least + take(part.size() - std::min(part.size(), least)), columns);
  };
  keep(lines.title, 1);
  if (left < lines.last.size() - 1)
    lines.last = {lastInOneLine(*numbered.finding, columns)};
  keep(lines.last, 1);
  if (left < lines.where.size() - 1 + lines.callers.size()) {
    lines.where = {whereInOneLine(*numbered.finding, columns)};
    lines.callers.clear();
  }
  keep(lines.where, 1);
  keep(lines.callers, 0);
  keep(lines.holders, 0);
  keep(lines.led, 0);
  return lines.all();
}

} // namespace msleaks::analysis::inline text
