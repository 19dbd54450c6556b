#include "analysis/page/report_page.h"

#include "analysis/base/page_text.h"
#include "analysis/page/comparison_data.h"
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

// A name may contain bytes that are no UTF-8.
std::string textOf(const Json &data) { return data.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json dataOf(const RunOfReportPage &run, std::optional<uint64_t> every_ms) {
  return {{"runs", Json::array({pageData(run.report, run.since)})},
          {"comparison", nullptr},
          {"live", every_ms ? Json{{"every_ms", *every_ms}} : Json()}};
}

// Only a live page may ask for anything, and only the server that it comes from.
void writePage(std::ostream &to, const std::string &title, const Json &data) {
  for (const std::string_view part : kPage)
    if (part == "{{title}}")
      to << escapedForHtml(title + " · msleaks");
    else if (part == "{{data}}")
      to << escapedForScript(textOf(data));
    else if (part == "{{connect}}")
      to << (data["live"].is_null() ? "'none'" : "'self'");
    else
      to << part;
}

} // namespace

void askForPage(ReportQuestion &question) {
  question.wants_series = question.wants_blocks = question.wants_allocated = question.wants_pictures = true;
}

Result<void> writeReportPage(std::ostream &to, const RunOfReportPage &run, std::optional<uint64_t> every_ms) {
  MSL_TRY(checkPage(kPage));
  writePage(to, titleOf(run.report), dataOf(run, every_ms));
  return {};
}

void writeLiveData(std::ostream &to, const RunOfReportPage &run, std::optional<uint64_t> every_ms) {
  to << textOf(dataOf(run, every_ms));
}

Result<void> writeComparisonPage(std::ostream &to, const RunOfReportPage &first, const RunOfReportPage &second,
                                 const RunComparison &comparison, const NameTable &names) {
  MSL_TRY(checkPage(kPage));
  writePage(to, fmt::format("{} and {}", comparison.first, comparison.second),
            {{"runs", Json::array({pageData(first.report, first.since), pageData(second.report, second.since)})},
             {"comparison", comparisonData(comparison, names)},
             {"live", nullptr}});
  return {};
}

} // namespace msleaks::analysis::inline page
