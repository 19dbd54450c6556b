#include "analysis/base/text.h"
#include "analysis/places/symbolizer.h"
#include "analysis/result/writer.h"
#include "analysis/second_run/doctor.h"
#include "analysis/text/report_text.h"
#include "analysis/text/table.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace msleaks::analysis::inline second_run {
namespace {

Json textOrNull(const std::string &text) { return text.empty() ? Json() : Json(text); }

// Lists several versions if units of several compilers are in one library.
Json versions(const std::set<std::string> &versions) {
  return textOrNull(fmt::format("{}", fmt::join(versions, ", ")));
}

Json jsonOf(const UnseenFunction &function) {
  return {{"symbol", function.symbol},
          {"reason", function.reason},
          {"remedy", function.remedy},
          {"kind", nameOf(function.kind)}};
}

Json jsonOf(const std::optional<DriverFunctions> &driver) {
  return driver ? Json{{"functions", driver->exported}, {"hooked", driver->hooked}, {"unknown", driver->unknown}}
                : Json();
}

Json jsonOf(const LibraryDiagnosis &library) {
  Json unseen = Json::array();
  for (const UnseenFunction &function : library.unseen)
    unseen.push_back(jsonOf(function));
  return {
      {"library", library.path},        {"program", library.is_program},   {"instrumented", library.is_instrumented},
      {"llvm", versions(library.llvm)}, {"pass", versions(library.pass)},  {"allocator", textOrNull(library.allocator)},
      {"traits", library.traits},       {"hooked", library.hooked},        {"unseen", std::move(unseen)},
      {"notes", library.notes},         {"driver", jsonOf(library.driver)}};
}

} // namespace

void writeDoctorJson(std::ostream &to, const DoctorAnswer &answer) {
  Json libraries = Json::array();
  for (const LibraryDiagnosis &library : answer.libraries)
    libraries.push_back(jsonOf(library));
  write(to, libraries, 2);
  to << '\n';
}

namespace {

constexpr size_t kWidest = 120; // longest line, also in wider windows
constexpr char kEverything[] = "*";
constexpr int kSignalled = 128; // a shell adds the number of the signal that ended a program

std::string counted(size_t count, std::string_view one, std::string_view more) {
  return fmt::format("{} {}", count, count == 1 ? one : more);
}

std::string endOf(const DoctorAnswer &answer) {
  const int status = answer.exit_status;
  std::string processes = counted(answer.processes, "process", "processes");
  if (answer.missed != 0)
    processes += fmt::format(" ({} more ended before doctor could examine them)", answer.missed);
  if (status > kSignalled)
    return fmt::format("{}; the program was ended by signal {} ({})", processes, status - kSignalled,
                       strsignal(status - kSignalled));
  return fmt::format("{}; the program ended with status {}", processes, status);
}

std::string sumOf(const DoctorAnswer &answer) {
  size_t functions = 0, libraries = 0;
  for (const LibraryDiagnosis &library : answer.libraries) {
    functions += library.unseen.size();
    libraries += library.unseen.empty() ? 0 : 1;
  }
  if (functions == 0)
    return fmt::format("nothing, in {}", counted(answer.libraries.size(), "library", "libraries"));
  return fmt::format("{} in {} of {}", counted(functions, "function", "functions"), libraries,
                     counted(answer.libraries.size(), "library", "libraries"));
}

// Returns the name without arguments, for example "operator new" for all its overloads.
std::string shortName(const std::string &symbol) {
  const std::string name = symbol == kEverything ? "everything" : demangle(symbol);
  return printable(name.substr(0, name.find('(')));
}

std::string namesOf(const auto &symbols) {
  constexpr size_t kMost = 12;
  std::vector<std::string> names;
  for (const std::string &symbol : symbols)
    if (std::string name = shortName(symbol); std::ranges::find(names, name) == names.end())
      names.push_back(std::move(name));
  const size_t left_out = names.size() > kMost ? names.size() - kMost : 0;
  names.resize(names.size() - left_out);
  return fmt::format("{}{}", fmt::join(names, ", "), left_out == 0 ? "" : fmt::format(" and {} more", left_out));
}

std::string passOf(const LibraryDiagnosis &library) {
  if (!library.is_instrumented)
    return "not instrumented";
  return library.llvm.empty() ? "instrumented"
                              : fmt::format("instrumented by MemPass {}, LLVM {}", fmt::join(library.pass, ", "),
                                            fmt::join(library.llvm, ", "));
}

std::string seenOf(const LibraryDiagnosis &library) {
  std::string text = passOf(library);
  if (library.hooked.empty())
    text += "; calls no hooked function";
  else
    text += fmt::format("; hooked: {}", namesOf(library.hooked));
  if (!library.allocator.empty())
    text += fmt::format("; allocator: {}", library.allocator);
  if (!library.traits.empty())
    text += fmt::format("; {}", fmt::join(library.traits, ", "));
  return text;
}

// Writes functions with the same reason and remedy together.
void writeUnseen(TextTable &table, const LibraryDiagnosis &library) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> groups;
  for (const UnseenFunction &function : library.unseen)
    groups[{function.reason, function.remedy}].push_back(function.symbol);
  for (const auto &[words, symbols] : groups) {
    table.entry("unseen", fmt::format("{}: {}", namesOf(symbols), printable(words.first)));
    table.entry("  do", words.second);
  }
}

void writeDriver(TextTable &table, const DriverFunctions &driver) {
  table.entry("driver", fmt::format("exports {}; {} of them have a hook",
                                    counted(driver.exported, "function", "functions"), driver.hooked));
  if (!driver.unknown.empty())
    table.entry("unknown", fmt::format("{}: msleaks does not know these functions of the driver; if a program calls "
                                       "them, a recording misses the calls",
                                       namesOf(driver.unknown)));
}

bool needsWords(const LibraryDiagnosis &library) {
  return library.driver || library.is_program || library.is_instrumented || !library.traits.empty() ||
         !library.unseen.empty() || !library.notes.empty();
}

void writeOthers(TextTable &table, const DoctorAnswer &answer, size_t columns) {
  std::vector<std::pair<std::string, std::string>> lines;
  size_t quiet = 0;
  for (const LibraryDiagnosis &library : answer.libraries) {
    if (needsWords(library))
      continue;
    if (library.hooked.empty())
      ++quiet;
    else
      lines.emplace_back(namesOf(library.hooked), shortPath(printable(library.path), columns / 2));
  }
  if (lines.empty() && quiet == 0)
    return;
  table.heading("Not instrumented, but all its calls are hooked");
  size_t width = 0;
  for (const auto &[names, path] : lines)
    width = std::max(width, widthOf(path));
  for (const auto &[names, path] : lines)
    table.line(cutEnd(fmt::format("{}{}  {}", path, std::string(width - widthOf(path), ' '), names), columns));
  if (quiet != 0)
    table.line(fmt::format("and {} that {} no hooked function", counted(quiet, "library", "libraries"),
                           quiet == 1 ? "calls" : "call"));
}

} // namespace

void writeDoctorText(std::ostream &to, const DoctorAnswer &answer, size_t columns) {
  TableStyle style;
  style.columns = std::min(columns, kWidest);
  TextTable table(to, style);
  table.entry("ran", endOf(answer));
  table.entry("unseen", sumOf(answer));
  for (const LibraryDiagnosis &library : answer.libraries) {
    if (!needsWords(library))
      continue;
    table.heading(printable(library.path));
    table.entry("seen", seenOf(library));
    writeUnseen(table, library);
    if (library.driver)
      writeDriver(table, *library.driver);
    for (const std::string &note : library.notes)
      table.entry("note", printable(note));
  }
  writeOthers(table, answer, columns);
}

} // namespace msleaks::analysis::inline second_run
