// Writes a report, or two compared reports, as an HTML page. The page is one file and loads nothing from the network
// (docs/report-page.md).
#pragma once

#include "analysis/base/result.h"
#include "analysis/compare/run_comparison.h"
#include "analysis/result/report.h"

#include <filesystem>
#include <iosfwd>
#include <optional>

namespace msleaks::analysis::inline page {

struct RunOfReportPage {
  const Report &report;
  std::optional<std::filesystem::file_time_type> since = {}; // see page_data.h
};

// If msleaks was built without the page, these functions write nothing and return an error.
Result<void> writeReportPage(std::ostream &to, const RunOfReportPage &run);
Result<void> writeComparisonPage(std::ostream &to, const RunOfReportPage &first, const RunOfReportPage &second,
                                 const RunComparison &, const NameTable &names);

} // namespace msleaks::analysis::inline page
