// msleaks report RUN: shows findings, the live blocks at the peak, leaks, and the cost of recording.
#include "analysis/result/report.h"
#include "analysis/base/terminal.h"
#include "analysis/importers/imported_run.h"
#include "analysis/page/report_page.h"
#include "analysis/report/analyze_run.h"
#include "analysis/report/question.h"
#include "analysis/result/sum.h"
#include "analysis/text/report_text.h"
#include "page_file.h"
#include "verb.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <unistd.h>

namespace msleaks::tools {
namespace {

struct ReportOptions {
  std::string run, group_by, from, to, born_until, heap, suppressions, filter, policy = "effect", color = "auto", at;
  std::optional<std::string> html;
  std::optional<uint32_t> pid, thread;
  std::optional<size_t> width, top;
  uint64_t skip_steps = 1, least_growth_bytes = 0;
  std::vector<std::string> added, analyzers, sections;
  bool json = false, all = false;
  analysis::TableStyle style;
};

Result<analysis::ReportQuestion> questionOf(const ReportOptions &options) {
  analysis::ReportQuestion question;
  question.window = MSL_TRY(analysis::parseWindow(options.from, options.to, options.born_until));
  if (!options.at.empty())
    question.at = MSL_TRY(analysis::parseState(options.at));
  question.pid = options.pid;
  question.tid = options.thread;
  if (!options.heap.empty())
    question.heap = MSL_TRY(analysis::parseHeap(options.heap));
  if (!options.group_by.empty())
    question.group_by = MSL_TRY(analysis::parseDimension(options.group_by));
  question.skip_steps = options.skip_steps;
  question.least_growth_bytes = options.least_growth_bytes;
  question.policy = MSL_TRY(analysis::parsePolicy(options.policy));
  if (options.html)
    analysis::askForPage(question);
  if (!options.suppressions.empty())
    question.suppressions = MSL_TRY(analysis::readSuppressions(options.suppressions));
  return question;
}

bool isColored(const ReportOptions &options) {
  if (options.color != "auto")
    return options.color == "always";
  return isatty(STDOUT_FILENO) && !std::getenv("NO_COLOR");
}

// Returns the style of the text. The first screen has a limited width. All other forms are as wide as the terminal.
analysis::TableStyle styleOf(const ReportOptions &options, bool is_screen) {
  analysis::TableStyle style = options.style;
  style.columns = options.width.value_or(
      std::min(analysis::outputColumns(STDOUT_FILENO), is_screen ? analysis::kScreenColumns : SIZE_MAX));
  style.top = options.top.value_or(is_screen ? analysis::kScreenRows : style.top);
  style.color = isColored(options);
  return style;
}

// A filter chooses among all rows, so it implies --all.
Result<void> writeText(const ReportOptions &options, const analysis::Report &report) {
  if (!options.sections.empty())
    return analysis::writeParts(std::cout, report, styleOf(options, false), options.sections);
  if (options.all || !options.filter.empty())
    analysis::writeReportTable(std::cout, report, styleOf(options, false));
  else
    analysis::writeScreen(std::cout, report, styleOf(options, true));
  return {};
}

// Prints the analyzers that failed. The report lacks only their results.
bool sayFailures(const std::vector<std::string> &failures) {
  for (const std::string &failure : failures)
    std::cerr << "msleaks: " << failure << '\n';
  return !failures.empty();
}

// Reads a run, or a report that was written as JSON.
Result<analysis::Report> readOne(const std::string &run, const analysis::ReportQuestion &question) {
  if (analysis::isResultFile(run)) {
    if (!question.isPlain())
      return fail("'" + run + "' is a result file, which has no events. This option needs the run's folder",
                  ExitStatus::Usage);
    return analysis::readReportJson(run);
  }
  analysis::OpenedRuns opened;
  const std::string path = MSL_TRY(opened.open(run));
  analysis::ProgressLine line;
  analysis::Report report =
      MSL_TRY(analysis::analyzeRun(path, question, [&line](const std::string &doing) { line.drawIfDue(doing); }));
  report.run = run;
  return report;
}

Result<analysis::Report> read(const ReportOptions &options, const analysis::ReportQuestion &question) {
  analysis::Report report = MSL_TRY(readOne(options.run, question));
  for (const std::string &run : options.added)
    analysis::add(report, MSL_TRY(readOne(run, question)));
  return report;
}

Result<ExitStatus> report(const ReportOptions &options) {
  analysis::ReportQuestion question = MSL_TRY(questionOf(options));
  analysis::LoadedAnalyzers own = analysis::loadAnalyzers(options.analyzers);
  question.analyzers = std::move(own.libraries);
  std::optional<PageFile> page;
  if (options.html)
    page = MSL_TRY(PageFile::create(*options.html));
  analysis::Report report = MSL_TRY(read(options, question));
  report.notes.insert(report.notes.begin(), own.refusals.begin(), own.refusals.end());
  report.failed_analyzers.insert(report.failed_analyzers.begin(), own.refusals.begin(), own.refusals.end());
  if (!options.filter.empty())
    analysis::keepMatching(report, analysis::Pattern(options.filter));
  if (page)
    MSL_TRY(page->write(
        [&](std::ostream &to) { return analysis::writeReportPage(to, {report, recordedAt(options.run)}); }));
  else if (options.json)
    analysis::writeReportJson(std::cout, report);
  else
    MSL_TRY(writeText(options, report));
  if (sayFailures(report.failed_analyzers))
    return ExitStatus::BadInput;
  return report.hasFindings() ? ExitStatus::Findings : ExitStatus::Clean;
}

void declarePart(CommandLine &line, ReportOptions &options) {
  line.group("Part of the run");
  const Option at = line.option("--at", options.at,
                                "shows only what was alive at this moment: a time since the start (1.5s), step:N, "
                                "mark:NAME, peak or end");
  line.option("--from", options.from, "begins the report at this moment, like --at [the start]").excludes(at);
  line.option("--to", options.to, "ends the report at this moment [the end]").excludes(at);
  line.option("--add", options.added,
              "adds the result of another run, for example of another rank of the same job; may be repeated")
      .valueName("RUN")
      .oneAtATime();
  line.option("--pid", options.pid, "counts only blocks that this process allocated");
  line.option(
      "--heap", options.heap,
      "counts only blocks of this heap: host, mapping, device, pinned, managed, pool, registered, python, imported");
  line.option("--suppressions", options.suppressions, "names a file of rules leak:PATTERN, in LeakSanitizer's format");
}

void declareForm(CommandLine &line, ReportOptions &options) {
  line.group("Form");
  const Option json = line.flag("--json", options.json, "prints everything as JSON (docs/report.md)");
  const Option all = line.flag("--all", options.all, "prints all parts of the report, not only the first screen");
  line.option("--html", options.html, "writes the report as a page for a browser (docs/report-page.md)")
      .valueName("FILE")
      .excludes(json)
      .excludes(all);
  line.option("--section", options.sections,
              "prints only the part with this name, for example findings, leaks or allocations; may be repeated")
      .valueName("NAME")
      .suggest(analysis::partNames({}))
      .separatedBy(',')
      .oneAtATime()
      .excludes(json)
      .excludes(all);
  line.option("--group-by", options.group_by,
              "adds a table of peak and leaks by site, path, function, file, type, variable, owner, thread, process, "
              "device or library");
  line.option("--filter", options.filter,
              "shows only places with this text in function, file, library, type or variable (`*`: any text, `^`: the "
              "beginning, `$`: the end)");
  line.option("--top", options.top, "sets the number of findings, and of rows of each table [5, with --all 10]");
  line.option("--sort", options.style.sort, "sorts tables by bytes, count, age or place [bytes]")
      .oneOf({"bytes", "count", "age", "place"});
}

void declareRarerPart(CommandLine &line, ReportOptions &options) {
  line.group("Rarer parts and rules", analysis::Shown::InFullHelp);
  line.option(
      "--born-until", options.born_until,
      "counts only blocks that were allocated between --from and this moment; blocks alive at --to count as leaked");
  line.option("--thread", options.thread, "counts only blocks that the thread with this number allocated");
  line.option("--skip-steps", options.skip_steps,
              "ignores allocations of the first N steps (the warm-up) when it looks for growth")
      .valueName("N")
      .showDefault();
  line.option("--min-growth", options.least_growth_bytes, "shows only growth by at least this much a step (4KiB, 10MB)")
      .byteSize();
  line.option("--policy", options.policy,
              "chooses the idle device memory that is a finding: effect (it lowers the peak) or msmemscope (by that "
              "tool's rules) [effect]");
  line.option("--analyzer", options.analyzers,
              "loads a shared object with an analyzer of your own (docs/analyzers.md); may be repeated")
      .valueName("FILE")
      .oneAtATime();
}

void declareRarerForm(CommandLine &line, ReportOptions &options) {
  line.group("Form in detail", analysis::Shown::InFullHelp);
  line.option("--min", options.style.least_bytes,
              "leaves out rows and findings with fewer bytes than this (4KiB, 10MB)")
      .byteSize();
  line.option("--columns", options.style.shown, "chooses the columns of tables, separated by commas")
      .separatedBy(',')
      .oneOf(analysis::rowColumns());
  line.option("--color", options.color, "colors the text: auto, always or never")
      .oneOf({"auto", "always", "never"})
      .showDefault();
  line.option("--width", options.width, "sets the width of the text in columns [that of the terminal]");
}

Action declareReport(CommandLine &line) {
  const auto options = std::make_shared<ReportOptions>();
  line.option("RUN", options->run,
              "names the folder of a run, its trace file, a result that --json printed, or a file of another tool "
              "(docs/formats.md)")
      .required();
  declarePart(line, *options);
  declareForm(line, *options);
  declareRarerPart(line, *options);
  declareRarerForm(line, *options);
  return [options] { return report(*options); };
}

} // namespace

MSL_REGISTER_VERB(report, "shows what filled the peak, what leaked, and what recording cost", declareReport)

} // namespace msleaks::tools
