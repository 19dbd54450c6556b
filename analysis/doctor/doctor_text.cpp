#include "analysis/doctor/doctor.h"
#include "analysis/places/symbolizer.h"
#include "analysis/report/text_format.h"
#include "analysis/report/text_table.h"

#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace msleaks::analysis {
namespace {

constexpr int kSignalled = 128; // a shell's status of a program that a signal ended

std::string counted(size_t count, std::string_view one, std::string_view more) {
  return fmt::format("{} {}", count, count == 1 ? one : more);
}

std::string endOf(const DoctorAnswer &answer) {
  const int status = answer.exit_status;
  const std::string processes = counted(answer.processes, "process", "processes");
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

std::string namesOf(const std::vector<std::string> &symbols) {
  constexpr size_t kMost = 12;
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(symbols.size(), kMost); ++i)
    names.push_back(symbols[i] == "*" ? "everything" : printable(demangle(symbols[i])));
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  if (symbols.size() > kMost)
    text += fmt::format(" and {} more", symbols.size() - kMost);
  return text;
}

std::string seenOf(const LibraryDiagnosis &library) {
  std::string text = library.is_instrumented ? fmt::format("instrumented by MemPass {}, LLVM {}",
                                                           fmt::join(library.pass, ", "), fmt::join(library.llvm, ", "))
                                             : "not instrumented";
  if (!library.hooked.empty())
    text += fmt::format("; hooked: {}", namesOf({library.hooked.begin(), library.hooked.end()}));
  else
    text += "; calls nothing that is hooked";
  if (!library.allocator.empty())
    text +=
        fmt::format("; has an allocator{}", library.allocator == "own" ? "" : fmt::format(" ({})", library.allocator));
  return text;
}

// Functions for which the same is to be said are named together.
void writeUnseen(TextTable &table, const LibraryDiagnosis &library) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> groups;
  for (const UnseenFunction &function : library.unseen)
    groups[{function.reason, function.remedy}].push_back(function.symbol);
  for (const auto &[words, symbols] : groups) {
    table.entry("unseen", fmt::format("{}: {}", namesOf(symbols), printable(words.first)));
    table.entry("  do", words.second);
  }
}

} // namespace

void writeDoctorText(std::ostream &to, const DoctorAnswer &answer, size_t columns) {
  TableStyle style;
  style.columns = columns;
  TextTable table(to, style);
  table.entry("ran", endOf(answer));
  table.entry("unseen", sumOf(answer));
  for (const LibraryDiagnosis &library : answer.libraries) {
    if (library.role == Role::System && library.unseen.empty())
      continue;
    table.heading(printable(library.path));
    table.entry("seen", seenOf(library));
    for (const std::string &note : library.notes)
      table.entry("note", printable(note));
    writeUnseen(table, library);
  }
}

} // namespace msleaks::analysis
