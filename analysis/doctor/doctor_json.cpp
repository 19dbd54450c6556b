#include "analysis/doctor/doctor.h"
#include "analysis/report/site_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace msleaks::analysis {
namespace {

Json textOrNull(const std::string &text) { return text.empty() ? Json() : Json(text); }

// Several where units of several compilers are in one library.
Json versions(const std::set<std::string> &versions) {
  return textOrNull(fmt::format("{}", fmt::join(versions, ", ")));
}

Json jsonOf(const UnseenFunction &function) {
  return {{"symbol", function.symbol},
          {"reason", function.reason},
          {"remedy", function.remedy},
          {"kind", nameOf(function.kind)}};
}

Json jsonOf(const LibraryDiagnosis &library) {
  Json unseen = Json::array();
  for (const UnseenFunction &function : library.unseen)
    unseen.push_back(jsonOf(function));
  return {
      {"library", library.path},        {"program", library.is_program},  {"instrumented", library.is_instrumented},
      {"llvm", versions(library.llvm)}, {"pass", versions(library.pass)}, {"allocator", textOrNull(library.allocator)},
      {"traits", library.traits},       {"hooked", library.hooked},       {"unseen", std::move(unseen)},
      {"notes", library.notes}};
}

} // namespace

void writeDoctorJson(std::ostream &to, const DoctorAnswer &answer) {
  Json libraries = Json::array();
  for (const LibraryDiagnosis &library : answer.libraries)
    libraries.push_back(jsonOf(library));
  write(to, libraries, 2);
  to << '\n';
}

} // namespace msleaks::analysis
