// Writes a report, or two compared reports, as an HTML page. The page is one file and loads nothing from the network
// (docs/report-page.md).
#pragma once

#include "analysis/base/result.h"
#include "analysis/compare/run_comparison.h"
#include "analysis/report/question.h"
#include "analysis/result/report.h"

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>

namespace msleaks::analysis::inline page {

struct RunOfReportPage {
  const Report &report;
  std::optional<std::filesystem::file_time_type> since = {}; // see page_data.h
};

// Adds to the question what a page shows besides the usual content of a report.
void askForPage(ReportQuestion &);

// If msleaks was built without the page, these functions write nothing and return an error.
// `every_ms`: the session still runs. After this time, the page asks its server for the data of the run as it is then.
Result<void> writeReportPage(std::ostream &to, const RunOfReportPage &run, std::optional<uint64_t> every_ms = {});
Result<void> writeComparisonPage(std::ostream &to, const RunOfReportPage &first, const RunOfReportPage &second,
                                 const RunComparison &, const NameTable &names);

// Writes the server's answer: the new data, as JSON. Without `every_ms`, the page does not ask again.
void writeLiveData(std::ostream &to, const RunOfReportPage &run, std::optional<uint64_t> every_ms);

} // namespace msleaks::analysis::inline page
