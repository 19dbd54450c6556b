// msleaks export RUN --format NAME: writes a run in a format that other programs read.
#include "analysis/base/output.h"
#include "analysis/base/terminal.h"
#include "analysis/exporters/export_run.h"
#include "analysis/exporters/registry.h"
#include "verb.h"

#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <optional>
#include <spdlog/spdlog.h>
#include <unistd.h>

namespace msleaks::tools {
namespace {

struct ExportOptions {
  std::string run, format, output = "-", at, of, from, to, suppressions;
  bool list = false;
  bool toStdout() const { return output == "-"; }
};

ExitStatus listFormats() {
  for (const analysis::Format &format : analysis::formats())
    std::cout << fmt::format("{:<10} {}\n", format.name, format.summary);
  return ExitStatus::Clean;
}

using Damage = std::vector<std::string>;

Result<analysis::ReportQuestion> questionOf(const ExportOptions &options) {
  analysis::ReportQuestion question;
  question.window = MSL_TRY(analysis::parseWindow(options.from, options.to));
  if (!options.at.empty())
    question.at = MSL_TRY(analysis::parseState(options.at));
  if (!options.suppressions.empty())
    question.suppressions = MSL_TRY(analysis::readSuppressions(options.suppressions));
  return question;
}

Result<Damage> exportTo(const analysis::ExportTarget &to, const ExportOptions &options,
                        const analysis::Format &format) {
  const analysis::ReportQuestion question = MSL_TRY(questionOf(options));
  std::optional<analysis::Blocks> of;
  if (!options.of.empty())
    of = MSL_TRY(analysis::parseBlocks(options.of));
  analysis::ProgressLine line;
  // On a terminal, the output and the progress line would overwrite each other.
  const bool shared = options.toStdout() && isatty(STDOUT_FILENO) == 1;
  bool hidden = false;
  return analysis::exportRun(options.run, format, to,
                             {[&](const std::string &doing) {
                                if (!hidden)
                                  line.drawIfDue(doing);
                              },
                              [&] {
                                line.erase();
                                hidden = shared;
                              }},
                             question, of);
}

// `output` is an OutputStream or an OutputFolder.
template <class Output>
Result<Damage> exportInto(Output &output, const ExportOptions &options, const analysis::Format &format) {
  Result<Damage> damage = exportTo(output, options, format);
  MSL_TRY(output.written().map_error(analysis::ofOutput)); // exportTo() does not return the reason of a failure
  if (damage)
    MSL_TRY(output.commit().map_error(analysis::ofOutput));
  return damage;
}

Result<Damage> exportFormat(const ExportOptions &options, const analysis::Format &format) {
  if (format.is_folder && options.toStdout())
    return fail(fmt::format("{} is a folder, so -o must name it", format.name), ExitStatus::Usage);
  if (format.is_folder)
    return exportInto(*MSL_TRY(analysis::OutputFolder::create(options.output).map_error(analysis::ofOutput)), options,
                      format);
  if (options.toStdout())
    return exportTo(std::cout, options, format);
  analysis::OutputStream file(MSL_TRY(analysis::OutputFile::create(options.output).map_error(analysis::ofOutput)));
  return exportInto(file, options, format);
}

Result<ExitStatus> exportRun(const ExportOptions &options) {
  if (options.list)
    return listFormats();
  if (options.run.empty())
    return fail("RUN is required; see msleaks export --help", ExitStatus::Usage);
  if (options.format.empty())
    return fail("--format is required; msleaks export --list shows the formats", ExitStatus::Usage);
  const auto format = MSL_TRY(analysis::formatOf(options.format));
  const auto damage = MSL_TRY(exportFormat(options, format));
  for (const std::string &what : damage)
    spdlog::warn("{}", what);
  return ExitStatus::Clean;
}

Action declareExport(CommandLine &line) {
  const auto options = std::make_shared<ExportOptions>();
  line.option("RUN", options->run, "names the folder of a run, or its trace file");
  line.option("--format", options->format, "names the format, one of those that --list shows (docs/export.md)")
      .valueName("NAME");
  line.option("--at", options->at, "writes only what was alive at this moment: a time, step:N, mark:NAME, peak or end")
      .valueName("M");
  line.option("--from", options->from, "writes only events from this moment on, like --at [the start]");
  line.option("--to", options->to, "writes only events before this moment [the end]");
  line.option("--suppressions", options->suppressions, "names a file of rules leak:PATTERN, in LeakSanitizer's format");
  line.option("--of", options->of,
              "chooses the blocks of a format of paths: peak (the default), leaks, or allocated: all blocks of the run")
      .valueName("BLOCKS");
  line.option("-o,--output", options->output, "names the file to write, or the folder; -: stdout")
      .valueName("PATH")
      .showDefault();
  line.flag("--list", options->list, "only lists the formats");
  return [options] { return exportRun(*options); };
}

} // namespace

MSL_REGISTER_VERB(export, "writes a run in a format that other programs read", declareExport)

} // namespace msleaks::tools
