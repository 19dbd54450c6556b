// Writes parts of a report by their names.
#include "analysis/base/text.h"
#include "analysis/result/report.h"
#include "analysis/text/parts.h"
#include "analysis/text/report_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ostream>
#include <sstream>

namespace msleaks::analysis::inline text {
namespace {

struct Part {
  std::string_view name;
  void (*write)(TextTable &, const Report &);
};

// The parts that every report has, in the order of the whole text. The report's sections come after them.
constexpr Part kParts[] = {
    {"session",
     [](TextTable &table, const Report &report) {
       writeSession(table, report);
       writeEntries(table, report);
     }},
    {"notes", writeNotes},
    {"findings", writeFindings},
    {"peak", writePeak},
    {"ledger", [](TextTable &table, const Report &report) { writeLedger(table, report.ledger); }},
    {"leaks", [](TextTable &table, const Report &report) { writeRemains(table, report.leaks, "Leaked"); }},
    {"alive", [](TextTable &table, const Report &report) { writeRemains(table, report.alive, "Alive"); }},
    {"unsure", [](TextTable &table, const Report &report) { writeRemains(table, report.unsure, "Unsure"); }},
    {"handles", [](TextTable &table, const Report &report) { writeHandles(table, report.handles); }},
};

std::string textOfPart(const Report &report, const TableStyle &style, const std::string &name) {
  std::ostringstream out;
  TextTable table(out, style);
  for (const Part &part : kParts)
    if (part.name == name)
      part.write(table, report);
  for (const Section &section : report.sections)
    if (section.name == name)
      section.is_grouping ? writeGroup(table, section) : writeSection(table, section);
  if (out.str().empty())
    table.line(fmt::format("\n{}: none", printable(name)));
  return out.str();
}

} // namespace

std::vector<std::string> partNames(const Report &report) {
  std::vector<std::string> names;
  for (const Part &part : kParts)
    names.emplace_back(part.name);
  for (const Section &section : report.sections)
    names.push_back(section.name);
  return names;
}

Result<void> writeParts(std::ostream &to, const Report &report, const TableStyle &style,
                        const std::vector<std::string> &names) {
  const std::vector<std::string> known = partNames(report);
  for (const std::string &name : names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      return fail(fmt::format("this report has no section '{}'; it has: {}", printable(name), fmt::join(known, ", ")),
                  ExitStatus::Usage);
  std::string text;
  for (const std::string &name : names)
    text += textOfPart(report, style, name);
  to << (text.starts_with('\n') ? text.substr(1) : text);
  return {};
}

} // namespace msleaks::analysis::inline text
