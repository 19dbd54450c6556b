// msleaks cfg RUN: the graphs of functions that were counted, and how often each edge ran (docs/kernel-graphs.md).
#include "analysis/graphs/run_graphs.h"
#include "verb.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <regex>

namespace msleaks::tools {
namespace {

struct Options {
  std::string run, function;
  bool json = false, dot = false;
};

Result<std::vector<analysis::CountedFunction>> chosen(const Options &options) {
  auto functions = MSL_TRY(analysis::graphsOfRun(options.run));
  if (options.function.empty())
    return functions;
  try {
    const std::regex expression(options.function, std::regex::extended);
    std::erase_if(functions, [&](const auto &function) { return !std::regex_search(function.name, expression); });
  } catch (const std::regex_error &error) {
    return fail(fmt::format("--function '{}' is no regular expression: {}", options.function, error.what()),
                ExitStatus::Usage);
  }
  if (functions.empty())
    return fail(fmt::format("--function '{}': no function that was counted has this name", options.function),
                ExitStatus::Usage);
  return functions;
}

Result<ExitStatus> cfg(const Options &options) {
  const auto functions = MSL_TRY(chosen(options));
  if (options.json)
    analysis::writeGraphsJson(std::cout, functions);
  else if (options.dot)
    analysis::writeGraphsDot(std::cout, functions);
  else
    analysis::writeGraphsText(std::cout, functions);
  return ExitStatus::Clean;
}

Action declare(CLI::App &app) {
  const auto options = std::make_shared<Options>();
  app.add_option("RUN", options->run, "folder of a run")->required();
  app.add_option("--function", options->function, "only functions with this in their name (a regular expression)")
      ->type_name("REGEX");
  auto *json = app.add_flag("--json", options->json, "an array of graphs (docs/kernel-graphs.md)");
  app.add_flag("--dot", options->dot, "graphs for Graphviz")->excludes(json);
  return [options] { return cfg(*options); };
}

} // namespace

MSL_REGISTER_VERB(cfg, "how often each edge of the functions ran that were built with --msl-cfg", declare)

} // namespace msleaks::tools
