#include "analysis/base/text.h"
#include "analysis/result/finding_kinds.h"
#include "analysis/result/report.h"
#include "analysis/text/parts.h"
#include "analysis/text/report_text.h"
#include "analysis/text/screen_parts.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <functional>
#include <ostream>
#include <sstream>

namespace msleaks::analysis::inline text {
namespace {

constexpr size_t kScreenLines = 40, kWordColumns = 8;
constexpr size_t kPoolRows = 3; // on one screen

std::string drawn(const TableStyle &style, const std::function<void(TextTable &)> &draw) {
  std::ostringstream out;
  TextTable table(out, style);
  draw(table);
  return out.str();
}

size_t linesIn(const std::string &text) { return static_cast<size_t>(std::count(text.begin(), text.end(), '\n')); }

// Returns where clauses end: at "; ", ": " and " (" outside of parentheses.
std::vector<size_t> clauseEnds(std::string_view text) {
  std::vector<size_t> ends;
  size_t depth = 0;
  for (size_t at = 0; at + 1 < text.size(); ++at) {
    const std::string_view rest = text.substr(at);
    if (depth == 0 && (rest.starts_with("; ") || rest.starts_with(": ") || rest.starts_with(" (")))
      ends.push_back(at);
    depth += text[at] == '(' ? 1 : 0;
    depth -= text[at] == ')' && depth > 0 ? 1 : 0;
  }
  return ends;
}

// Returns as many clauses of the text as fit.
std::string clausesOf(const std::string &text, size_t room) {
  if (widthOf(text) <= room)
    return text;
  const std::vector<size_t> ends = clauseEnds(text);
  for (auto end = ends.rbegin(); end != ends.rend(); ++end)
    if (widthOf(text.substr(0, *end)) <= room)
      return text.substr(0, *end);
  return cutEnd(text, room);
}

void entryOnOneLine(TextTable &table, const char *word, const std::string &text) {
  if (!text.empty())
    table.entry(word, clausesOf(text, table.columns() - kWordColumns));
}

// Returns the command. Without a manifest, it is the command that the first process itself has recorded.
std::string textOfProgram(const Report &report) {
  if (!report.command.empty() || report.processes.empty())
    return textOfCommand(report);
  Report first;
  first.command = report.processes.front().command;
  return textOfCommand(first);
}

std::string textOfShortFloor(const Report &report) {
  if (!report.floor || report.floor->bytes > report.peak.bytes)
    return textOfFloor(report);
  std::string names;
  for (const abi::Heap heap : report.floor->heaps)
    names += fmt::format("{}{}", names.empty() ? "" : " and ", abi::nameOf(heap));
  return fmt::format("{}, {} below the peak: if {} memory is held only while it is used",
                     bytesText(report.floor->bytes), bytesText(report.peak.bytes - report.floor->bytes), names);
}

std::string textOfNotes(const Report &report) {
  std::vector<std::string> all = report.damage;
  all.insert(all.end(), report.notes.begin(), report.notes.end());
  if (all.empty())
    return "";
  return all.size() == 1 ? printable(all.front())
                         : fmt::format("{}, --section notes has them: {}", all.size(), printable(all.front()));
}

void writeHead(TextTable &table, const Report &report) {
  const std::string program = textOfProgram(report);
  table.entry("command", program.empty() ? "not known" : cutMiddle(program, table.columns() - kWordColumns));
  entryOnOneLine(table, "time", textOfEnd(report));
  entryOnOneLine(table, "events", textOfEvents(report));
  entryOnOneLine(table, report.at ? "alive" : "peak", textOfPeak(report));
  if (!report.at) {
    entryOnOneLine(table, "tensors", textOfTensors(report));
    entryOnOneLine(table, "floor", textOfShortFloor(report));
    entryOnOneLine(table, "leaks", textOfLeaks(report));
    entryOnOneLine(table, "alive", textOfRemains(report.alive));
  }
  entryOnOneLine(table, "kernel", textOfKernel(report));
  if (const std::string notes = textOfNotes(report); !notes.empty())
    table.entry(report.damage.empty() ? "note" : "damage", cutEnd(notes, table.columns() - kWordColumns));
}

// Returns a word of a command with quotes for the shell; empty: the word cannot be typed.
std::string shellWord(const std::string &word) {
  constexpr std::string_view kPlain = "/._-+=,:@%^~";
  const auto isPlain = [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || kPlain.find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), isPlain))
    return word;
  return word.empty() || printable(word) != word || word.find('\'') != std::string::npos ? "" : "'" + word + "'";
}

struct NextCommand {
  std::string verb, options, use;
};

std::vector<NextCommand> nextCommands(const Report &report, const ScreenFindings &findings) {
  const auto isKind = [&](std::string_view kind) {
    return std::any_of(findings.shown.begin(), findings.shown.end(),
                       [&](const NumberedFinding &numbered) { return numbered.finding->kind == kind; });
  };
  const auto has = [&](std::string_view name) {
    return std::any_of(report.sections.begin(), report.sections.end(),
                       [&](const Section &section) { return section.name == name && !section.rows.empty(); });
  };
  const std::string word = report.at ? shellWord(report.at->name) : "";
  const std::string at = word.empty() ? "" : " --at " + word;
  std::vector<NextCommand> commands;
  if (isKind(finding_kinds::kOutOfMemory.name))
    commands.push_back({"oom", "", "what was alive then, and what to free"});
  if (has("owners"))
    commands.push_back({"report", at + " --section owners", "memory by owner"});
  else if (!report.peak.by_site.empty())
    commands.push_back({"report", at + " --section peak", "all places, with their callers"});
  commands.push_back({"report", at + " --all", "everything; or --section NAME"});
  return commands;
}

void writeNext(TextTable &table, const Report &report, const ScreenFindings &findings) {
  const std::vector<NextCommand> commands = nextCommands(report, findings);
  const size_t room = table.columns() - kWordColumns;
  std::vector<std::string> texts;
  const auto write = [&](const std::string &run) {
    texts.clear();
    size_t widest = 0;
    for (const NextCommand &command : commands) {
      texts.push_back(fmt::format("msleaks {} {}{}", command.verb, run, command.options));
      widest = std::max(widest, widthOf(texts.back()));
    }
    return widest;
  };
  std::string run = shellWord(report.run);
  if (run.empty() || write(run) > room)
    run = "RUN";
  const size_t widest = write(run);
  table.line("");
  for (size_t i = 0; i < commands.size(); ++i) {
    const std::string padded = texts[i] + std::string(widest - widthOf(texts[i]) + 3, ' ');
    const std::string whole = padded + commands[i].use;
    table.entry(i == 0 ? "next" : "", widthOf(whole) <= room ? whole : texts[i]);
  }
}

// Writes tables that the user asked for in the command line: an analyzer's, or those that an option needs.
void writeAskedFor(TextTable &table, const Report &report) {
  const TableStyle &style = table.style();
  constexpr std::array kOfLeaks = {"oldest", "largest"};
  const bool asks_for_leaks =
      style.sort == "age" || std::any_of(kOfLeaks.begin(), kOfLeaks.end(), [&](const char *name) {
        return std::find(style.shown.begin(), style.shown.end(), name) != style.shown.end();
      });
  if (asks_for_leaks && !hasGroups(report))
    writeRemains(table, report.leaks, "Leaked");
  for (const Section &section : report.sections)
    if (section.is_users_own)
      writeSection(table, section);
}

} // namespace

void writeScreen(std::ostream &to, const Report &report, const TableStyle &style) {
  ScreenFindings findings = screenFindings(report, style);
  const bool is_limited = style.top <= kScreenRows;
  const std::string head = drawn(style, [&](TextTable &table) { writeHead(table, report); });
  const std::string places = drawn(style, [&](TextTable &table) {
    hasGroups(report) ? writeGroups(table, report) : writeScreenPlaces(table, report);
  });
  TableStyle style_of_pools = style;
  style_of_pools.top = is_limited ? std::min(style.top, kPoolRows) : style.top;
  const std::string pools = drawn(style_of_pools, [&](TextTable &table) {
    if (!hasGroups(report))
      writeScreenPools(table, report);
  });
  const std::string asked = drawn(style, [&](TextTable &table) { writeAskedFor(table, report); });
  const std::string next = drawn(style, [&](TextTable &table) { writeNext(table, report, findings); });
  constexpr size_t kAroundFindings = 3; // a blank line, the heading, and the line about further findings
  const size_t taken = linesIn(head) + linesIn(places) + linesIn(pools) + linesIn(next) + kAroundFindings;
  const size_t room = is_limited ? kScreenLines - std::min(taken, kScreenLines) : SIZE_MAX;
  keepThoseThatFit(findings, room);
  to << head;
  if (!report.at)
    to << drawn(style, [&](TextTable &table) { writeScreenFindings(table, findings, room); });
  to << places << pools << asked << next;
}

} // namespace msleaks::analysis::inline text
