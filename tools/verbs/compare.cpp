// msleaks compare A B: compares the memory of two runs, or two dumps of msMemScope. With --bisect, it finds the commit
// that changed the memory (docs/compare.md).
#include "analysis/base/output.h"
#include "analysis/base/path_check.h"
#include "analysis/base/signals.h"
#include "analysis/base/terminal.h"
#include "analysis/compare/bisect.h"
#include "analysis/compare/launches.h"
#include "analysis/compare/msmemscope_comparison.h"
#include "analysis/compare/repeated_runs.h"
#include "analysis/compare/run_comparison.h"
#include "analysis/importers/imported_run.h"
#include "analysis/page/report_page.h"
#include "analysis/report/analyze_run.h"
#include "analysis/report/question.h"
#include "page_file.h"
#include "verb.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <spdlog/spdlog.h>
#include <unistd.h>

namespace msleaks::tools {
namespace {

struct CompareOptions {
  std::string first, second, policy, level = "kernel", output, at = "peak", metric = "peak", build;
  std::vector<std::string> command;
  std::optional<std::string> html;
  std::optional<size_t> width;
  bool json = false, all = false, bisect = false;
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

// The value of --at. `moment` is set unless the value is peak or end. Only the events of a run show such a moment.
struct WantedState {
  analysis::StateAt at = analysis::StateAt::Cut;
  std::optional<analysis::State> moment;
};
Result<WantedState> stateNamed(const std::string &text) {
  using analysis::StateAt;
  auto state = MSL_TRY(analysis::parseState(text));
  if (std::holds_alternative<analysis::PeakMoment>(state.when))
    return WantedState{StateAt::Peak, {}};
  if (std::holds_alternative<analysis::EndMoment>(state.when))
    return WantedState{StateAt::End, {}};
  return WantedState{StateAt::Cut, std::move(state)};
}

// Reads the state of a run at a moment, or all of the run.
Result<analysis::Report> readRun(const std::string &path, const WantedState &state, bool for_page,
                                 analysis::ProgressLine &progress) {
  if (analysis::isResultFile(path)) {
    if (state.moment)
      return fail("'" + path + "' is a result file, which knows only the moments `peak` and `end`", ExitStatus::Usage);
    return analysis::readReportJson(path);
  }
  analysis::ReportQuestion question;
  question.at = state.moment;
  if (for_page)
    analysis::askForPage(question);
  return analysis::analyzeRun(path, question, [&progress](const std::string &doing) { progress.drawIfDue(doing); });
}

// Splits "RUN1,RUN2", the runs of one side. If the whole text is an existing path, it is one run.
std::vector<std::string> runsOf(const std::string &side) {
  std::error_code error;
  std::vector<std::string> runs;
  for (size_t begin = 0; begin <= side.size();) {
    const size_t end =
        std::filesystem::exists(side, error) ? side.size() : std::min(side.find(',', begin), side.size());
    runs.push_back(side.substr(begin, end - begin));
    begin = end + 1;
  }
  return runs;
}

Result<std::vector<std::string>> openAll(std::vector<std::string> runs, analysis::OpenedRuns &opened) {
  for (std::string &run : runs)
    run = MSL_TRY(opened.open(run));
  return runs;
}

Result<std::vector<analysis::Report>> readRuns(const std::vector<std::string> &runs, const WantedState &state,
                                               bool for_page, analysis::ProgressLine &progress) {
  std::vector<analysis::Report> reports;
  for (const std::string &run : runs)
    reports.push_back(MSL_TRY(readRun(run, state, for_page, progress)));
  return reports;
}

// Whether another run of the side differs from its first run in at least `most` launches.
Result<bool> launchesVary(const std::vector<std::string> &runs, const analysis::RunLaunches &first, size_t most,
                          analysis::NameTable &names) {
  using namespace analysis::compare;
  for (size_t i = 1; i < runs.size(); ++i)
    if (analysis::compareLaunches(first, MSL_TRY(launchesOf(runs[i], names))).differing.size() >= most)
      return true;
  return false;
}

// Compares the launches of the first run of each side. Returns nothing if a run is a result file, because such a file
// has no launches. Returns nothing either if the runs of one side differ in as many launches as the two sides.
Result<std::optional<analysis::LaunchDifferences>> compareLaunches(const std::vector<std::string> &first,
                                                                   const std::vector<std::string> &second,
                                                                   analysis::NameTable &names) {
  using namespace analysis::compare;
  for (const auto *runs : {&first, &second})
    if (std::any_of(runs->begin(), runs->end(), analysis::isResultFile))
      return std::optional<LaunchDifferences>();
  const RunLaunches before = MSL_TRY(launchesOf(first.front(), names));
  const RunLaunches after = MSL_TRY(launchesOf(second.front(), names));
  LaunchDifferences differences = analysis::compareLaunches(before, after);
  const size_t most = differences.differing.size();
  if (most != 0 &&
      (MSL_TRY(launchesVary(first, before, most, names)) || MSL_TRY(launchesVary(second, after, most, names))))
    return std::optional<LaunchDifferences>();
  return std::optional(std::move(differences));
}

Result<ExitStatus> compareMemory(const CompareOptions &options) {
  using namespace analysis::compare;
  const WantedState state = MSL_TRY(stateNamed(options.at));
  analysis::OpenedRuns opened;
  const std::vector<std::string> first_runs = MSL_TRY(openAll(runsOf(options.first), opened)),
                                 second_runs = MSL_TRY(openAll(runsOf(options.second), opened));
  std::optional<PageFile> page;
  if (options.html)
    page = MSL_TRY(PageFile::create(*options.html));
  analysis::ProgressLine progress;
  const auto first = MSL_TRY(readRuns(first_runs, state, page.has_value(), progress));
  const auto second = MSL_TRY(readRuns(second_runs, state, page.has_value(), progress));
  RunComparison comparison = compareRepeatedRuns(first, second, state.at);
  comparison.first = options.first;
  comparison.second = options.second;
  comparison.at = options.at;
  NameTable names;
  if (!state.moment)
    comparison.launches = MSL_TRY(compareLaunches(first_runs, second_runs, names));
  progress.erase();
  if (page)
    MSL_TRY(page->write([&](std::ostream &to) {
      return analysis::writeComparisonPage(to, {first.front(), recordedAt(first_runs.front())},
                                           {second.front(), recordedAt(second_runs.front())}, comparison, names);
    }));
  else if (options.json)
    writeComparisonJson(std::cout, comparison, names);
  else
    writeComparisonText(std::cout, comparison, options.width.value_or(analysis::outputColumns(STDOUT_FILENO)),
                        options.all);
  return comparison.differs() ? ExitStatus::Findings : ExitStatus::Clean;
}

// In a build and in an installation, msleaks-run is in the folder of this program.
Result<std::filesystem::path> findRecorder() {
  std::error_code error;
  auto recorder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / "msleaks-run";
  if (error || access(recorder.c_str(), X_OK) != 0)
    return fail(recorder.string() + ": not found; install msleaks-run beside msleaks", ExitStatus::OwnFault);
  return recorder;
}

Result<analysis::BisectQuestion> bisectQuestionOf(const CompareOptions &options) {
  if (options.command.empty())
    return fail("--bisect needs a command that builds and runs the program, after --", ExitStatus::Usage);
  analysis::BisectQuestion question;
  question.good = options.first;
  question.bad = options.second;
  question.at_text = options.at;
  question.metric = MSL_TRY(analysis::parseBisectMetric(options.metric));
  const WantedState state = MSL_TRY(stateNamed(options.at));
  question.at = state.at;
  question.command.at = state.moment;
  question.command.command = options.command;
  question.command.build = options.build;
  question.command.recorder = MSL_TRY(findRecorder());
  return question;
}

Result<void> writeFileIn(int folder, const std::filesystem::path &path, const std::string &text) {
  auto file = MSL_TRY(analysis::OutputFile::create(path, folder));
  MSL_TRY(file.write(text));
  return file.commit();
}

Result<ExitStatus> bisect(const CompareOptions &options, const analysis::StopSignals &signals) {
  using namespace analysis::compare;
  const BisectQuestion question = MSL_TRY(bisectQuestionOf(options));
  analysis::FileDescriptor folder;
  if (!options.output.empty()) {
    MSL_TRY(analysis::checkOutputFolder(options.output));
    folder = MSL_TRY(analysis::makeOutputFolder(options.output, 0750).map_error(analysis::ofOutput));
  }
  analysis::ProgressLine line;
  const BisectListener listener{.warning =
                                    [&line](const std::string &text) {
                                      line.erase();
                                      spdlog::warn("{}", text);
                                    },
                                .progress = [&line](const std::string &text) { line.drawIfDue(text); }};
  NameTable names;
  const BisectResult result = MSL_TRY(Bisect(question, signals, listener).run(names));
  line.erase();
  if (folder.valid())
    for (const auto &[name, side] : {std::pair("before.json", &result.before), std::pair("after.json", &result.after)})
      MSL_TRY(writeFileIn(folder.get(), std::filesystem::path(options.output) / name, sideJson(result, *side))
                  .map_error(analysis::ofOutput));
  if (options.json)
    writeBisectJson(std::cout, result, names);
  else
    writeBisectText(std::cout, result, options.width.value_or(analysis::outputColumns(STDOUT_FILENO)), options.all);
  return result.differs ? ExitStatus::Findings : ExitStatus::Clean;
}

// A signal ends this process only after the bisect has removed its working tree.
Result<ExitStatus> bisectOrStop(const CompareOptions &options) {
  const analysis::StopSignals signals;
  auto status = bisect(options, signals);
  if (signals.arrived() != 0)
    signals.end();
  return status;
}

Result<ExitStatus> compare(const CompareOptions &options) {
  if (options.bisect) {
    if (!options.policy.empty())
      return fail("--bisect and --policy exclude each other", ExitStatus::Usage);
    return bisectOrStop(options);
  }
  if (!options.command.empty() || !options.build.empty())
    return fail("a command and --build need --bisect; without it, give two runs", ExitStatus::Usage);
  if (options.policy.empty()) {
    if (!options.output.empty())
      return fail("-o needs --policy msmemscope or --bisect; without them, the comparison goes to stdout",
                  ExitStatus::Usage);
    return compareMemory(options);
  }
  if (options.output.empty())
    return fail("--policy msmemscope needs -o FOLDER", ExitStatus::Usage);
  return compareByPolicy(options);
}

Action declareCompare(CommandLine &line) {
  const auto options = std::make_shared<CompareOptions>();
  line.option("A", options->first,
              "names the folder of a run, a result file, or a file of another tool. Several runs with commas "
              "between them show the noise")
      .required();
  line.option("B", options->second, "names the other run, which is compared with A").required();
  line.option("--at", options->at,
              "compares the blocks that were alive at peak, end, step:N, mark:NAME or a time since the start (1.5s)")
      .valueName("WHEN")
      .showDefault();
  const Option json = line.flag("--json", options->json, "prints a JSON object instead of the text (docs/compare.md)");
  const Option all =
      line.flag("--all", options->all, "prints all changed places, as a tree of libraries and files").excludes(json);
  const Option html =
      line.option("--html", options->html, "writes a page for a browser, with both runs (docs/report-page.md)")
          .valueName("FILE")
          .excludes(json)
          .excludes(all);
  line.option("--width", options->width, "sets the width of the text in columns [that of the terminal]");
  line.group("Comparison as in msMemScope");
  line.option("--policy", options->policy, "msmemscope: writes the file that msMemScope's comparison writes")
      .oneOf({"msmemscope"})
      .excludes(html);
  line.option("--level", options->level, "compares launches of kernels, or ends of operators (in a run: ranges)")
      .oneOf({"kernel", "op"})
      .showDefault();
  line.option("-o,--output", options->output,
              "names the folder for this file, or for both results of --bisect; it is created if needed")
      .valueName("FOLDER");
  line.group("Search for a commit");
  line.flag("--bisect", options->bisect,
            "finds the commit that changed the memory: A and B are commits of this git repository, the good one first")
      .excludes(html);
  line.option("COMMAND", options->command, "builds and runs the program of a commit, after --; only for --bisect");
  line.option("--metric", options->metric,
              "names the figure that the commit has changed: peak, leaks or place FILE:LINE")
      .secondWordAfter("place")
      .showDefault();
  line.option("--build", options->build,
              "is a shell command that builds a commit; the memory of the build does not count")
      .valueName("COMMAND");
  return [options] { return compare(*options); };
}

} // namespace

MSL_REGISTER_VERB(compare, "shows what changed in memory between two runs", declareCompare)

} // namespace msleaks::tools
