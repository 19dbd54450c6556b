// msleaks report RUN: what filled the peak, what leaked, and what it cost to know.
#include "msleaks/analysis/report.h"
#include "msleaks/analysis/output_columns.h"
#include "msleaks/analysis/progress_line.h"
#include "verb.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <unistd.h>

namespace msleaks::tools {
namespace {

struct Options {
  std::string run;
  bool json = false;
  size_t top = 10;
};

Result<ExitStatus> report(const Options &options) {
  Result<analysis::Report> report = [&] {
    analysis::ProgressLine line;
    return analysis::analyzeRun(options.run, [&line](const std::string &doing) { line.drawIfDue(doing); });
  }();
  if (!report)
    return tl::make_unexpected(report.error());
  if (options.json) {
    analysis::writeReportJson(std::cout, *report);
  } else {
    const analysis::TableStyle style{analysis::outputColumns(STDOUT_FILENO), options.top,
                                     isatty(STDOUT_FILENO) && !std::getenv("NO_COLOR")};
    analysis::writeReportTable(std::cout, *report, style);
  }
  return report->hasFindings() ? ExitStatus::Findings : ExitStatus::Clean;
}

Action declare(CLI::App &app) {
  const auto options = std::make_shared<Options>();
  app.add_option("RUN", options->run, "folder of a run, or its trace file")->required();
  app.add_flag("--json", options->json, "everything, for programs (docs/report.md)");
  app.add_option("--top", options->top, "lines of each list")->capture_default_str();
  return [options] { return report(*options); };
}

} // namespace

const Verb verbs::report = {"report", "what filled the peak, what leaked, and what it cost", declare};

} // namespace msleaks::tools
