// msleaks cfg RUN: shows the control-flow graphs of counted functions, and how often each edge ran
// (docs/kernel-graphs.md).
#include "analysis/base/output.h"
#include "analysis/counts/graphs_html.h"
#include "verb.h"

#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <optional>
#include <regex>

namespace msleaks::tools {
namespace {

struct GraphsOptions {
  std::string run, against, function;
  std::optional<std::string> html;
  bool json = false, dot = false;
};

using Functions = std::vector<analysis::CountedFunction>;

Result<void> choose(const std::string &wanted, Functions &functions) {
  if (wanted.empty())
    return {};
  try {
    const std::regex expression(wanted, std::regex::extended);
    std::erase_if(functions, [&](const auto &function) { return !std::regex_search(function.name, expression); });
  } catch (const std::regex_error &error) {
    return fail(fmt::format("--function '{}' is no regular expression: {}", wanted, error.what()), ExitStatus::Usage);
  }
  return {};
}

Error noSuchFunction(const std::string &wanted) {
  return {fmt::format("--function '{}': no function that was counted has this name", wanted), ExitStatus::Usage};
}

Result<void> writePage(const GraphsOptions &options, const Functions &functions, const Functions &others) {
  analysis::OutputStream file(MSL_TRY(analysis::OutputFile::create(*options.html).map_error(analysis::ofOutput)));
  const analysis::RunOfPage run{options.run, functions}, against{options.against, others};
  MSL_TRY(analysis::writeGraphsHtml(file, run, options.against.empty() ? nullptr : &against,
                                    analysis::countedAt(options.run)));
  MSL_TRY(file.written().map_error(analysis::ofOutput)); // commit() does not return the reason of a failure
  return file.commit().map_error(analysis::ofOutput);
}

Result<ExitStatus> cfg(const GraphsOptions &options) {
  auto functions = MSL_TRY(analysis::graphsOfRun(options.run));
  MSL_TRY(choose(options.function, functions));
  Functions others;
  if (!options.against.empty()) {
    others = MSL_TRY(analysis::graphsOfRun(options.against));
    MSL_TRY(choose(options.function, others));
  }
  if (!options.function.empty() && functions.empty() && others.empty())
    return tl::make_unexpected(noSuchFunction(options.function));
  if (options.html)
    MSL_TRY(writePage(options, functions, others));
  else if (options.json)
    analysis::writeGraphsJson(std::cout, functions);
  else if (options.dot)
    analysis::writeGraphsDot(std::cout, functions);
  else
    analysis::writeGraphsText(std::cout, functions);
  return ExitStatus::Clean;
}

Action declareGraphs(CommandLine &line) {
  const auto options = std::make_shared<GraphsOptions>();
  line.option("RUN", options->run, "names the folder of a run").required();
  line.option("--function", options->function,
              "shows only functions whose name matches this regular expression [all functions]")
      .valueName("REGEX");
  const Option json = line.flag("--json", options->json, "prints an array of graphs as JSON (docs/kernel-graphs.md)");
  const Option dot = line.flag("--dot", options->dot, "prints the graphs for Graphviz").excludes(json);
  const Option html =
      line.option("--html", options->html, "writes an HTML page that shows the graphs beside the source")
          .valueName("FILE")
          .excludes(json)
          .excludes(dot);
  line.option("--against", options->against, "shows another run on the page, side by side; it may be of another build")
      .valueName("RUN2")
      .needs(html);
  return [options] { return cfg(*options); };
}

} // namespace

MSL_REGISTER_VERB(cfg, "shows how often each edge of the control flow ran, in functions that were built with --msl-cfg",
                  declareGraphs)

} // namespace msleaks::tools
