// A recorded run that is exported, and files that are imported.
#pragma once

#include "analysis/exporters/export_run.h"
#include "analysis/exporters/registry.h"
#include "analysis/importers/imported_run.h"

#include "../report/report_fixture.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <string>
#include <vector>

namespace msleaks::analysis {

inline Result<Report> importedReport(const std::filesystem::path &dump) {
  OpenedRuns opened;
  const std::string run = MSL_TRY(opened.open(dump));
  return analyzeRun(run);
}

// Returns the parts of the findings that an import must keep. A dump has no types and no pointers, so confidence and
// text may differ.
inline std::vector<std::string> essenceOf(const Report &report) {
  std::vector<std::string> list;
  for (const Finding &finding : report.findings)
    list.push_back(fmt::format("{} {} {} {} of {} saves {} at {}:{} in {}", finding.kind, abi::nameOf(finding.heap),
                               finding.device, finding.bytes, finding.count, finding.saves_bytes, finding.site.file,
                               finding.site.line, finding.site.function));
  return list;
}

inline bool hasNote(const Report &report, const std::string &text) {
  return std::any_of(report.notes.begin(), report.notes.end(),
                     [&](const auto &note) { return note.find(text) != std::string::npos; });
}

inline std::string contentOf(const std::filesystem::path &file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class ImportTest : public ReportTest {
protected:
  std::filesystem::path dumpOf(const char *format) {
    const std::filesystem::path path = base / format;
    const auto folder = *OutputFolder::create(path);
    EXPECT_TRUE(exportRun(run, *formatOf(format), *folder));
    EXPECT_TRUE(folder->commit());
    return path;
  }
  std::filesystem::path fileOf(const std::string &content, const char *name = "dump.csv") {
    const std::filesystem::path file = base / name;
    std::ofstream(file, std::ios::binary | std::ios::trunc) << content;
    return file;
  }
  Report reportOfFile(const std::string &content) {
    const auto report = importedReport(fileOf(content, "foreign"));
    EXPECT_TRUE(report) << report.error().message;
    return report.value_or(Report{});
  }
  // Imports each `step`th beginning of the content, and the content with changed bytes. Each is a report, or one line.
  void cutAndChange(const std::string &content, size_t step) {
    const auto expectReportOrLine = [&](const std::string &changed, size_t at) {
      const auto report = importedReport(fileOf(changed, "foreign"));
      if (report)
        return;
      EXPECT_NE(report.error().status, ExitStatus::OwnFault) << at;
      EXPECT_EQ(report.error().message.find('\n'), std::string::npos) << report.error().message;
      EXPECT_NE(report.error().message.find("foreign'"), std::string::npos) << report.error().message;
    };
    for (size_t at = 0; at < content.size(); at += step) {
      expectReportOrLine(content.substr(0, at), at);
      std::string changed = content;
      changed[at] = static_cast<char>(changed[at] ^ (1 << at % 8));
      expectReportOrLine(changed, at);
    }
  }
};

} // namespace msleaks::analysis
