// Writes a report, or two compared reports, as an HTML page. The page is one file and loads nothing from the network
// (docs/report-page.md).
#pragma once

#include "analysis/base/result.h"
#include "analysis/compare/run_comparison.h"
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

// A page of a session that still runs. Every `every_ms` it asks for the data of the run as it is then. Each answer
// tells when to ask again.
struct LivePage {
  uint64_t every_ms;
};

// If msleaks was built without the page, these functions write nothing and return an error.
Result<void> writeReportPage(std::ostream &to, const RunOfReportPage &run, std::optional<LivePage> live = {});
Result<void> writeComparisonPage(std::ostream &to, const RunOfReportPage &first, const RunOfReportPage &second,
                                 const RunComparison &, const NameTable &names);

// Writes the answer to the live page's question: the new data, as JSON. Without `live`, the page does not ask again.
void writeLiveData(std::ostream &to, const RunOfReportPage &run, std::optional<LivePage> live);

} // namespace msleaks::analysis::inline page
