// msleaks recover RUN: completes the run folder of a session whose collector was killed.
#include "analysis/collect/recovery.h"
#include "analysis/report/analyze_run.h"
#include "analysis/result/report.h"
#include "verb.h"

#include <iostream>
#include <memory>

namespace msleaks::tools {
namespace {

struct RecoverOptions {
  std::string run;
  std::string session;
};

Result<ExitStatus> recover(const RecoverOptions &options) {
  const auto recovered = MSL_TRY(analysis::recoverRun(options.run, options.session));
  if (recovered.already_complete) {
    std::cout << options.run << ": complete, nothing to recover\n";
    return ExitStatus::Clean;
  }
  std::cout << options.run << ": " << recovered.events_added << " events added\n";
  if (const auto named = analysis::finishRun(options.run); !named)
    std::cout << "  its calls are not named yet: " << named.error().message << '\n';
  for (const std::string &note : recovered.notes)
    std::cout << "  " << note << '\n';
  for (const std::string &process : recovered.still_running)
    std::cout << "  " << process << " is still running, so it was skipped; recover again when it has ended\n";
  return ExitStatus::Clean;
}

Action declareRecover(CommandLine &line) {
  auto options = std::make_shared<RecoverOptions>();
  line.option("RUN", options->run, "names the folder of the recording").required();
  line.option("--session", options->session,
              "names the folder of the session's shared memory, if the manifest is lost or does not name it");
  return [options] { return recover(*options); };
}

} // namespace

MSL_REGISTER_VERB(recover, "completes the folder of a session that was killed", declareRecover)

} // namespace msleaks::tools
