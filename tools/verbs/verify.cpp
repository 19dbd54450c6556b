// msleaks verify RUN FINDING -- program…: runs the program again and observes each access, or each write, to the blocks
// of a finding.
#include "analysis/base/run_folder.h"
#include "analysis/base/terminal.h"
#include "analysis/collect/watch_option.h"
#include "analysis/report/analyze_run.h"
#include "analysis/result/report.h"
#include "analysis/second_run/verification.h"
#include "verb.h"

#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <unistd.h>

namespace msleaks::tools {
namespace {

struct VerifyOptions {
  std::string run, finding;
  std::vector<std::string> command;
  bool json = false;
};

// Returns the finding that the option names: by its number in the report, from 1, or by the beginning of its id. This
// beginning must belong to only one id.
Result<analysis::Finding> findingOf(const VerifyOptions &options, const std::vector<analysis::Finding> &findings) {
  constexpr size_t kMostDigits = 4;
  const std::string &wanted = options.finding;
  const bool is_number =
      wanted.size() <= kMostDigits && wanted.find_first_not_of("0123456789") == std::string::npos && !wanted.empty();
  if (const size_t number = is_number ? std::stoul(wanted) : 0; number >= 1 && number <= findings.size())
    return findings[number - 1];
  std::vector<const analysis::Finding *> found;
  for (const analysis::Finding &finding : findings)
    if (finding.id.starts_with(wanted))
      found.push_back(&finding);
  if (found.size() == 1)
    return *found.front();
  return fail(fmt::format("'{}' is {} of the {} findings of {}: give the number or the id of one, as `msleaks report "
                          "{} --json` has it",
                          wanted, found.empty() ? "none" : "several", findings.size(), options.run, options.run),
              ExitStatus::Usage);
}

// Returns the watch of the recording's --watch. It is empty if the manifest cannot be read.
abi::WatchWish watchOfRun(const std::string &run) {
  const auto folder = analysis::RunFolder::open(run);
  const auto manifest = folder ? folder->readManifest() : tl::make_unexpected(folder.error());
  return manifest ? analysis::watchOf(manifest->options) : abi::WatchWish{};
}

Result<ExitStatus> verify(const VerifyOptions &options) {
  const auto finding = [&]() -> Result<analysis::Finding> {
    analysis::ProgressLine line;
    const auto report =
        MSL_TRY(analysis::analyzeRun(options.run, [&line](const std::string &doing) { line.drawIfDue(doing); }));
    return findingOf(options, report.findings);
  }();
  if (!finding)
    return tl::make_unexpected(finding.error());
  const auto verification =
      MSL_TRY(analysis::verify(*finding, {options.command, options.json, watchOfRun(options.run)}));
  if (options.json)
    analysis::writeVerificationJson(std::cout, verification);
  else
    analysis::writeVerificationText(std::cout, verification, analysis::outputColumns(STDOUT_FILENO));
  return verification.judgement.outcome == analysis::Outcome::Proved ? ExitStatus::Clean : ExitStatus::Findings;
}

Action declareVerify(CommandLine &line) {
  const auto options = std::make_shared<VerifyOptions>();
  line.option("RUN", options->run, "names the folder of a run, or its trace file").required();
  line.option("FINDING", options->finding, "is the id of a finding of RUN, or its number in the report").required();
  line.option("PROGRAM", options->command, "is the program with its arguments, after --").required();
  line.flag("--json", options->json, "prints a JSON object (docs/verify.md); the output of the program goes to stderr");
  return [options] { return verify(*options); };
}

} // namespace

MSL_REGISTER_VERB(verify,
                  "runs a program again to prove a finding: that blocks stay untouched, or which code wrote a block",
                  declareVerify)

} // namespace msleaks::tools
