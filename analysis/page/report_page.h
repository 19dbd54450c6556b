// Writes a report as an HTML page. The page is one file and loads nothing from the network (docs/report-page.md).
#pragma once

#include "analysis/base/result.h"
#include "analysis/result/report.h"

#include <filesystem>
#include <iosfwd>
#include <optional>

namespace msleaks::analysis::inline page {

// If msleaks was built without the page, writes nothing and returns an error of the environment. For `since` see
// page_data.h.
Result<void> writeReportPage(std::ostream &to, const Report &, std::optional<std::filesystem::file_time_type> since);

} // namespace msleaks::analysis::inline page
