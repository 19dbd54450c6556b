// msleaks ctl RUN start|stop|status|snapshot|reach|set|adopt: changes a session while it runs.
#include "analysis/collect/adoption.h"
#include "analysis/collect/control_socket.h"
#include "analysis/collect/session_status.h"
#include "analysis/report/analyze_run.h"
#include "analysis/result/report.h"
#include "verb.h"

#include <atomic>
#include <csignal>
#include <fmt/format.h>
#include <iostream>
#include <memory>

namespace msleaks::tools {
namespace {

struct ControlOptions {
  std::string run, command, argument;
  bool json = false;
};

Result<ExitStatus> status(const ControlOptions &options) {
  const auto status = MSL_TRY(analysis::statusOfRun(options.run));
  if (options.json)
    std::cout << analysis::jsonOf(status) << '\n';
  else
    std::cout << fmt::format("{}: {}, {} process{}, {} events, {} stored, {} dropped, stalled {:.3f} s\n", options.run,
                             status.state, status.processes, status.processes == 1 ? "" : "es", status.events.produced,
                             status.events.stored, status.events.dropped,
                             static_cast<double>(status.events.stalled_ns) / 1e9);
  return ExitStatus::Clean;
}

// Sends a request to the collector and prints the reply.
Result<ExitStatus> ask(const ControlOptions &options, const std::string &request) {
  const auto session = MSL_TRY(analysis::runningSession(options.run));
  const auto answer = MSL_TRY(analysis::askSession(session, request));
  if (answer.status != ExitStatus::Clean)
    return fail(answer.text, answer.status);
  if (!answer.text.empty())
    std::cout << answer.text << '\n';
  return ExitStatus::Clean;
}

std::atomic<bool> stop_adopted{false};

// Collects the session's events in this process until all processes have ended, or until Ctrl-C. Then completes the run
// folder.
Result<ExitStatus> adopt(const ControlOptions &options) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    std::signal(signal, [](int) { stop_adopted = true; });
  const auto adopted = MSL_TRY(analysis::adoptRun(options.run, stop_adopted));
  std::cout << options.run << ": " << adopted.events_added << " events added\n";
  if (const auto named = analysis::finishRun(options.run); !named)
    std::cout << "  its calls are not named yet: " << named.error().message << '\n';
  for (const std::string &note : adopted.notes)
    std::cout << "  " << note << '\n';
  return ExitStatus::Clean;
}

Result<ExitStatus> control(const ControlOptions &options) {
  const bool set = options.command == "set";
  if (set != !options.argument.empty())
    return fail(set ? "set needs an option and its new value: write NAME=VALUE"
                    : fmt::format("{} takes no argument", options.command),
                ExitStatus::Usage);
  if (options.command == "status")
    return status(options);
  if (options.command == "adopt")
    return adopt(options);
  return ask(options, set ? "set " + options.argument : options.command);
}

Action declareControl(CommandLine &line) {
  auto options = std::make_shared<ControlOptions>();
  line.option("RUN", options->run, "names the folder of the recording").required();
  line.option(
          "COMMAND", options->command,
          "start: records from now on; stop: records nothing; status: shows the state of the recording; "
          "snapshot: stores all events so far; reach: stops the processes for a moment, to find the pointers to each "
          "block; set: changes an option of msleaks-run; adopt: continues the recording if msleaks-run was killed")
      .required()
      .oneOf({"start", "stop", "status", "snapshot", "reach", "set", "adopt"});
  line.option(
      "NAME=VALUE", options->argument,
      "is only for set: the option on-full, ring-kib, ring-max-kib, block-timeout-ms or events, and its new value");
  line.flag("--json", options->json, "prints the status as a JSON object");
  return [options] { return control(*options); };
}

} // namespace

MSL_REGISTER_VERB(ctl, "starts, stops or changes a recording while it runs", declareControl)

} // namespace msleaks::tools
