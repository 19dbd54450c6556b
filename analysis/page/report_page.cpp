#include "analysis/page/report_page.h"

#include "analysis/base/page_text.h"
#include "analysis/page/page_data.h"

#include "report_page.inc"

#include <fmt/ranges.h>
#include <ostream>
#include <string_view>

// The build bundles tools/report, and writes kPage into report_page.inc. kPage is empty if npm could not do that.

namespace msleaks::analysis::inline page {
namespace {

std::string titleOf(const Report &report) {
  return report.command.empty() ? report.run : fmt::format("{}", fmt::join(report.command, " "));
}

} // namespace

Result<void> writeReportPage(std::ostream &to, const Report &report,
                             std::optional<std::filesystem::file_time_type> since) {
  if (std::size(kPage) == 1)
    return fail(
        "this msleaks has no page, because npm was missing or failed when it was built. Build it again with npm",
        ExitStatus::BadInput);
  for (const std::string_view part : kPage)
    if (part == "{{title}}")
      to << escapedForHtml(titleOf(report) + " · msleaks");
    else if (part == "{{data}}")
      to << escapedForScript(pageData(report, since).dump(-1, ' ', false, Json::error_handler_t::replace));
    else
      to << part;
  return {};
}

} // namespace msleaks::analysis::inline page
