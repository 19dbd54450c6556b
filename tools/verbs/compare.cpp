// msleaks compare A B: compares the launches of two runs, or of two dumps of msMemScope (docs/compare.md).
#include "analysis/compare/msmemscope_comparison.h"
#include "analysis/compare/msmemscope_side.h"
#include "analysis/run/output_file.h"
#include "verb.h"

#include <ctime>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <spdlog/spdlog.h>

namespace msleaks::tools {
namespace {

struct CompareOptions {
  std::string first, second, policy, level = "kernel", output;
};

Result<analysis::compare::MsmemscopeDump> readSide(const std::string &path, analysis::compare::DumpLevel level,
                                                   analysis::compare::NameTable &names) {
  auto side = MSL_TRY(analysis::compare::readMsmemscopeSide(path, level, names));
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

Action declareCompare(CommandLine &line) {
  const auto options = std::make_shared<CompareOptions>();
  line.option("A", options->first, "names the folder of a run, or a dump of msMemScope (.csv)").required();
  line.option("B", options->second, "names another one, which is compared with A").required();
  line.option("--policy", options->policy, "msmemscope: writes the file that msMemScope's comparison writes")
      .oneOf({"msmemscope"})
      .required();
  line.option("--level", options->level, "compares launches of kernels, or ends of operators (in a run: ranges)")
      .oneOf({"kernel", "op"})
      .showDefault();
  line.option("-o,--output", options->output, "names the folder for this file; it is made if there is none")
      .valueName("FOLDER")
      .required();
  return [options] { return compareByPolicy(*options); };
}

} // namespace

MSL_REGISTER_VERB(compare, "compares the launches of two runs", declareCompare)

} // namespace msleaks::tools
