// msleaks check RUN: checks a run against limits and a baseline (docs/check.md).
#include "analysis/base/output.h"
#include "analysis/base/terminal.h"
#include "analysis/compare/figures.h"
#include "analysis/compare/verdict.h"
#include "analysis/report/analyze_run.h"
#include "analysis/report/question.h"
#include "verb.h"

#include <iostream>
#include <memory>
#include <sstream>
#include <string_view>

namespace msleaks::tools {
namespace {

struct CheckOptions {
  std::string run, baseline, peak, sites, suppressions, save, junit;
  std::optional<uint64_t> leak_bytes;
  bool json = false, incomplete_allowed = false;
};

Result<analysis::Limits> limitsOf(const CheckOptions &options) {
  analysis::Limits limits;
  if (!options.peak.empty())
    limits.peak = MSL_TRY(analysis::parsePeakLimit(options.peak));
  limits.leak_bytes = options.leak_bytes;
  limits.new_places = !options.sites.empty();
  limits.incomplete_allowed = options.incomplete_allowed;
  MSL_TRY(analysis::checkBaseline(limits, !options.baseline.empty()));
  return limits;
}

Result<void> writeFile(const std::string &path, std::string_view content) {
  const auto write = [&]() -> Result<void> {
    auto file = MSL_TRY(analysis::OutputFile::create(path));
    MSL_TRY(file.write(content));
    return file.commit();
  };
  return write().map_error(analysis::ofOutput);
}

std::string junitOf(const analysis::Verdict &verdict) {
  std::ostringstream text;
  analysis::writeVerdictJunit(text, verdict);
  return text.str();
}

Result<ExitStatus> check(const CheckOptions &options) {
  const analysis::Limits limits = MSL_TRY(limitsOf(options));
  analysis::ReportQuestion question;
  if (!options.suppressions.empty())
    question.suppressions = MSL_TRY(analysis::readSuppressions(options.suppressions));
  analysis::ProgressLine line;
  const auto progress = [&line](const std::string &doing) { line.drawIfDue(doing); };
  std::optional<analysis::RunFigures> baseline;
  if (!options.baseline.empty())
    baseline = MSL_TRY(analysis::readBaseline(options.baseline, question, progress));
  const auto now = analysis::figuresOf(MSL_TRY(analysis::analyzeRun(options.run, question, progress)));
  const auto verdict = MSL_TRY(analysis::judge(now, baseline, limits));
  line.erase();
  if (!options.save.empty() && verdict.passed())
    MSL_TRY(writeFile(options.save, analysis::formatFigures(now)));
  if (!options.junit.empty())
    MSL_TRY(writeFile(options.junit, junitOf(verdict)));
  (options.json ? analysis::writeVerdictJson : analysis::writeVerdictMarkdown)(std::cout, verdict);
  if (!options.save.empty() && !verdict.passed())
    std::cerr << "msleaks: '" << options.save << "' is not written, because the check failed\n";
  return verdict.passed() ? ExitStatus::Clean : ExitStatus::Findings;
}

Action declareCheck(CommandLine &line) {
  const auto options = std::make_shared<CheckOptions>();
  line.option("RUN", options->run, "names the folder of a run, or its trace file").required();
  line.option("--baseline", options->baseline, "compares with another run, a result file, or a file that --save wrote")
      .valueName("BASE");
  line.option("--peak", options->peak,
              "fails if the peak is above this size (512MiB), or above the baseline's by this much (+2%, +10MiB)")
      .valueName("LIMIT");
  line.option("--leaks", options->leak_bytes, "fails if more bytes leak than this (0, 4KiB)").byteSize();
  line.option("--sites", options->sites, "new: fails if a place leaks that did not leak in the baseline")
      .oneOf({"new"});
  line.flag("--allow-incomplete", options->incomplete_allowed,
            "judges the recording even if a part of a program was not recorded");
  line.option("--suppressions", options->suppressions, "names a file of rules leak:PATTERN, in LeakSanitizer's format");
  line.option("--save", options->save, "writes the run's figures as a baseline to this file, unless the check fails")
      .valueName("FILE");
  line.option("--junit", options->junit, "writes a test case for each limit to this file, in the format of JUnit")
      .valueName("FILE");
  line.flag("--json", options->json, "prints a JSON object instead of the table (docs/check.md)");
  return [options] { return check(*options); };
}

} // namespace

MSL_REGISTER_VERB(check, "checks a run against limits and a baseline", declareCheck)

} // namespace msleaks::tools
