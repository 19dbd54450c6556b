// msleaks collectors: lists which kernel evidence this machine offers (docs/kernel.md). It runs no program.
#include "analysis/result/writer.h"
#include "kernel/kernel_session.h"
#include "verb.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iostream>
#include <memory>

namespace msleaks::tools {
namespace {

struct CollectorsOptions {
  std::vector<std::string> names;
  bool json = false;
};

std::string reasonText(const std::string &reason, int error) {
  return error == 0 ? reason : fmt::format("{} ({})", reason, std::strerror(error));
}

void printText(const std::vector<analysis::KernelCollector> &collectors) {
  for (const analysis::KernelCollector &one : collectors) {
    std::cout << fmt::format("{:<10} {:<12} {:<10} {}\n", one.name, one.state, one.mechanism,
                             reasonText(one.reason, one.error));
    for (const analysis::KernelRefusal &refusal : one.refusals)
      std::cout << fmt::format("{:<10} {:<12} {:<10} {}\n", "", "refused", refusal.mechanism,
                               reasonText(refusal.reason, refusal.error));
  }
}

Result<ExitStatus> listCollectors(const CollectorsOptions &options) {
  const auto &known = kernel::collectorNames();
  kernel::Setup setup;
  for (const std::string &name : options.names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      return fail(fmt::format("'{}' is no collector; there are {}", name, fmt::join(known, ", ")), ExitStatus::Usage);
  for (const std::string_view name : known)
    if (options.names.empty() || std::ranges::find(options.names, name) != options.names.end())
      setup.requests.push_back({std::string(name)});
  const auto collectors = kernel::KernelSession::start(setup)->collectors();
  if (options.json) {
    analysis::write(std::cout, {{"collectors", analysis::collectorsJson(collectors)}}, 2);
    std::cout << '\n';
  } else {
    printText(collectors);
  }
  return std::ranges::all_of(collectors, &analysis::KernelCollector::isUsable) ? ExitStatus::Clean
                                                                               : ExitStatus::Findings;
}

Action declareCollectors(CommandLine &line) {
  const auto options = std::make_shared<CollectorsOptions>();
  line.option("NAMES", options->names, "are the collectors to ask for [all]");
  line.flag("--json", options->json, "prints a JSON object (docs/kernel.md)");
  return [options] { return listCollectors(*options); };
}

} // namespace

MSL_REGISTER_VERB(collectors, "lists which kernel evidence this machine offers, and why not", declareCollectors)

} // namespace msleaks::tools
