// msleaks compare A B: compares the memory of two runs, or two dumps of msMemScope (docs/compare.md).
#include "analysis/base/output.h"
#include "analysis/base/terminal.h"
#include "analysis/compare/launches.h"
#include "analysis/compare/msmemscope_comparison.h"
#include "analysis/compare/run_comparison.h"
#include "analysis/report/analyze_run.h"
#include "analysis/report/question.h"
#include "verb.h"

#include <ctime>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <spdlog/spdlog.h>
#include <unistd.h>

namespace msleaks::tools {
namespace {

struct CompareOptions {
  std::string first, second, policy, level = "kernel", output, at = "peak";
  std::optional<size_t> width;
  bool json = false;
};

Result<analysis::MsmemscopeDump> readSide(const std::string &path, analysis::DumpLevel level,
                                          analysis::NameTable &names) {
  auto side = MSL_TRY(analysis::readMsmemscopeSide(path, level, names));
  for (const std::string &damage : side.damage)
    spdlog::warn("{}: {}", path, damage);
  return std::move(side.launches);
}

// Writes the file of msMemScope, and prints its name.
Result<ExitStatus> compareByPolicy(const CompareOptions &options) {
  using namespace analysis::compare;
  const DumpLevel level = options.level == "op" ? DumpLevel::Operator : DumpLevel::Kernel;
  NameTable names;
  const auto first = MSL_TRY(readSide(options.first, level, names));
  const auto second = MSL_TRY(readSide(options.second, level, names));
  const MsmemscopeComparison comparison = compareAsMsmemscope(first, second);
  if (comparison.coarse)
    spdlog::warn("the launches differ too much for an exact alignment, so some equal ones are shown as gone and new");
  const auto path =
      MSL_TRY(writeMsmemscopeTable(msmemscopeTable(comparison, level, names), options.output, std::time(nullptr))
                  .map_error(analysis::ofOutput));
  std::cout << fmt::format("{}: {} rows, {} differ\n", path.string(), comparison.rows.size(), comparison.differing);
  return comparison.differing == 0 ? ExitStatus::Clean : ExitStatus::Findings;
}

// Reads a run until `to`, or all of it without `to`.
Result<analysis::Report> readRun(const std::string &path, std::optional<analysis::Moment> to,
                                 analysis::ProgressLine &progress) {
  if (analysis::isResultFile(path)) {
    if (to)
      return fail("'" + path + "' is a result file, which knows only the moments `peak` and `end`", ExitStatus::Usage);
    return analysis::readReportJson(path);
  }
  analysis::ReportQuestion question;
  question.window.to = std::move(to);
  return analysis::analyzeRun(path, question, [&progress](const std::string &doing) { progress.drawIfDue(doing); });
}

std::optional<analysis::StateAt> knownState(const std::string &at) {
  using analysis::StateAt;
  return at == "peak" ? std::optional(StateAt::Peak) : at == "end" ? std::optional(StateAt::End) : std::nullopt;
}

// Two result files have no launches.
Result<std::optional<analysis::LaunchDifferences>> compareLaunches(const CompareOptions &options,
                                                                   analysis::NameTable &names) {
  using namespace analysis::compare;
  if (analysis::isResultFile(options.first) || analysis::isResultFile(options.second))
    return std::optional<LaunchDifferences>();
  const RunLaunches first = MSL_TRY(launchesOf(options.first, names));
  const RunLaunches second = MSL_TRY(launchesOf(options.second, names));
  return std::optional(analysis::compareLaunches(first, second));
}

Result<ExitStatus> compareMemory(const CompareOptions &options) {
  using namespace analysis::compare;
  const auto known = knownState(options.at);
  std::optional<analysis::Moment> to;
  if (!known)
    to = MSL_TRY(analysis::parseMoment(options.at));
  analysis::ProgressLine progress;
  const auto first = MSL_TRY(readRun(options.first, to, progress));
  const auto second = MSL_TRY(readRun(options.second, to, progress));
  RunComparison comparison = compareRuns(first, second, known.value_or(StateAt::Cut));
  comparison.at = options.at;
  NameTable names;
  if (known)
    comparison.launches = MSL_TRY(compareLaunches(options, names));
  progress.erase();
  if (options.json)
    writeComparisonJson(std::cout, comparison, names);
  else
    writeComparisonText(std::cout, comparison, options.width.value_or(analysis::outputColumns(STDOUT_FILENO)));
  return comparison.differs() ? ExitStatus::Findings : ExitStatus::Clean;
}

Result<ExitStatus> compare(const CompareOptions &options) {
  if (options.policy.empty()) {
    if (!options.output.empty())
      return fail("-o needs --policy msmemscope; without it, the comparison goes to stdout", ExitStatus::Usage);
    return compareMemory(options);
  }
  if (options.output.empty())
    return fail("--policy msmemscope needs -o FOLDER", ExitStatus::Usage);
  return compareByPolicy(options);
}

Action declareCompare(CommandLine &line) {
  const auto options = std::make_shared<CompareOptions>();
  line.option("A", options->first, "names the folder of a run, a result file, or a dump of msMemScope (.csv)")
      .required();
  line.option("B", options->second, "names another one, which is compared with A").required();
  line.option("--at", options->at,
              "compares the blocks that were alive at peak, end, step:N, mark:NAME or a time since the start (1.5s)")
      .valueName("WHEN")
      .showDefault();
  line.flag("--json", options->json, "prints a JSON object instead of the text (docs/compare.md)");
  line.option("--width", options->width, "sets the width of the text in columns [that of the terminal]");
  line.group("As msMemScope compares");
  line.option("--policy", options->policy, "msmemscope: writes the file that msMemScope's comparison writes")
      .oneOf({"msmemscope"});
  line.option("--level", options->level, "compares launches of kernels, or ends of operators (in a run: ranges)")
      .oneOf({"kernel", "op"})
      .showDefault();
  line.option("-o,--output", options->output, "names the folder for this file; it is made if there is none")
      .valueName("FOLDER");
  return [options] { return compare(*options); };
}

} // namespace

MSL_REGISTER_VERB(compare, "shows what changed in memory between two runs", declareCompare)

} // namespace msleaks::tools
