#include "analysis/second_run/second_run.h"

#include "analysis/base/preload.h"
#include "analysis/base/program.h"
#include "analysis/base/signals.h"

#include <csignal>
#include <unistd.h>

namespace msleaks::analysis::inline second_run {
Result<int> runTraced(const TracedProgram &run, Tracer &tracer) {
  const auto told = [](const LaunchError &error) { return Error{error.message, ExitStatus::BadInput}; };
  const auto program = MSL_TRY(findProgram(run.command[0]).map_error(told));
  const auto environment = makeEnvironment(run.variable, preloadsFor(program, run.hooks, run.other_hooks));
  const TerminalSignalsIgnored signals;
  Result<void> seized;
  BeforeExec before_exec;
  before_exec.in_parent = [&](pid_t child) {
    seized = tracer.seize(child);
    if (!seized)
      kill(child, SIGKILL);
  };
  before_exec.in_child = [&] {
    if (run.stdout_to_stderr)
      dup2(STDERR_FILENO, STDOUT_FILENO);
    tracer.filterCalls();
  };
  before_exec.meanwhile = [&] { tracer.runToExec(); };
  const auto started = startProgram(program, run.command, environment, signals.found(), before_exec);
  MSL_TRY(seized);
  MSL_TRY(Launched<pid_t>(started).map_error(told));
  return shellStatus(tracer.run());
}

} // namespace msleaks::analysis::inline second_run
