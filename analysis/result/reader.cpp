// Reads a result file: a report as JSON.
#include "analysis/result/reader.h"

#include "analysis/base/text.h"
#include "analysis/result/report.h"

#include <fstream>

namespace msleaks::analysis::inline result {
namespace {

tl::unexpected<Error> unreadable(const std::filesystem::path &file, std::string_view why) {
  return fail(fmt::format("cannot read the result '{}': {}", file.string(), why));
}

// In a damaged file, rows may have a wrong length. Later code expects a cell for each column.
bool isWhole(const Report &report) {
  return std::all_of(report.sections.begin(), report.sections.end(), [](const Section &section) {
    return std::all_of(section.rows.begin(), section.rows.end(),
                       [&](const auto &row) { return row.size() == section.columns.size(); });
  });
}

} // namespace

bool isResultFile(const std::filesystem::path &file) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(file, failed))
    return false;
  std::ifstream in(file, std::ios::binary);
  char first = 0;
  return in >> first && first == '{'; // skips white space
}

Result<Report> readReportJson(const std::filesystem::path &file) {
  simdjson::dom::parser parser;
  Element json;
  if (const auto failed = parser.load(file.string()).get(json); failed != simdjson::SUCCESS)
    return unreadable(file, simdjson::error_message(failed));
  uint64_t version = 0;
  if (!json.is_object() || json["version"].get(version) != simdjson::SUCCESS || json["session"].error())
    return unreadable(file, "it is no result of `msleaks report --json`");
  if (version > kResultVersion)
    return unreadable(file,
                      fmt::format("a newer msleaks wrote it (version {}, this one reads up to {}); use that version",
                                  version, kResultVersion));
  Report report;
  ReadPath path;
  if (!take(json, report, path) || !path.firstWrong().empty())
    return unreadable(file, fmt::format("{} does not have the type of its field", printable(path.firstWrong())));
  if (!isWhole(report))
    return unreadable(file, "a row of a section does not have a cell for each column");
  return report;
}

} // namespace msleaks::analysis::inline result
