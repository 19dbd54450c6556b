#include "analysis/second_run/second_run.h"

#include "analysis/base/preload.h"
#include "analysis/base/program.h"
#include "analysis/base/signals.h"

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

namespace msleaks::analysis::inline second_run {
namespace {

int exitStatusOf(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

} // namespace

Result<int> runTraced(const SecondRun &run, Tracer &tracer, const std::string &variable) {
  const auto told = [](const LaunchError &error) { return Error{error.message, ExitStatus::BadInput}; };
  const auto program = MSL_TRY(findProgram(run.command[0]).map_error(told));
  const std::string hooks = MSL_TRY(findHooks({}));
  const auto environment = makeEnvironment(variable, preloadsFor(program, hooks));
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
  const auto started = startProgram(program, run.command, environment, signals.found(), before_exec);
  MSL_TRY(seized);
  MSL_TRY(Launched<pid_t>(started).map_error(told));
  return exitStatusOf(tracer.run());
}

} // namespace msleaks::analysis::inline second_run
