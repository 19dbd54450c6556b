#include "analysis/second_run/doctor.h"

#include "analysis/base/preload.h"
#include "analysis/base/program.h"
#include "analysis/base/signals.h"
#include "analysis/second_run/process_tracer.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

namespace msleaks::analysis::inline second_run {
namespace {

// Unseen functions of all processes, each library once.
class Findings {
public:
  explicit Findings(const HookedSymbols &hooked) : hooked_(hooked), files_(wantedNames(hooked)) {}

  void look(pid_t thread) {
    for (LibraryDiagnosis &library : diagnose(viewOf(thread, files_), hooked_)) {
      const auto known = std::ranges::find(libraries_, library.path, &LibraryDiagnosis::path);
      if (known != libraries_.end())
        known->add(library);
      else
        libraries_.push_back(std::move(library));
    }
  }

  std::vector<LibraryDiagnosis> take() {
    const auto rank = [](const LibraryDiagnosis &library) {
      return library.is_program ? 0 : library.role == Role::System ? 2 : 1;
    };
    std::ranges::sort(libraries_, [&](const LibraryDiagnosis &left, const LibraryDiagnosis &right) {
      return std::pair(rank(left), left.path) < std::pair(rank(right), right.path);
    });
    return std::move(libraries_);
  }

private:
  const HookedSymbols &hooked_;
  LibraryFiles files_;
  std::vector<LibraryDiagnosis> libraries_;
};

int shellStatus(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

// LeakSanitizer is a tracer, too, and there is one already: the program would fail at its end.
void endWithoutLeakCheck() {
  const char *options = std::getenv("LSAN_OPTIONS");
  setenv("LSAN_OPTIONS", fmt::format("{}:detect_leaks=0", options != nullptr ? options : "").c_str(), 1);
}

Result<int> runTraced(const DoctorRun &run, const std::string &hooks, ProcessTracer &tracer) {
  const auto told = [](const LaunchError &error) { return Error{error.message, ExitStatus::BadInput}; };
  const auto program = MSL_TRY(findProgram(run.command[0]).map_error(told));
  endWithoutLeakCheck();
  const auto environment = makeEnvironment("", preloadsFor(program, hooks, run.hooks));
  const TerminalSignalsIgnored signals;
  Result<void> seized;
  BeforeExec before_exec;
  before_exec.in_parent = [&](pid_t child) {
    seized = tracer.seize(child);
    if (!seized)
      kill(child, SIGKILL);
  };
  before_exec.in_child = [] {
    dup2(STDERR_FILENO, STDOUT_FILENO);
    ProcessTracer::filterCalls();
  };
  before_exec.meanwhile = [&] { tracer.runToExec(); };
  const auto started = startProgram(program, run.command, environment, signals.found(), before_exec);
  MSL_TRY(seized);
  MSL_TRY(Launched<pid_t>(started).map_error(told));
  return shellStatus(tracer.run());
}

} // namespace

bool DoctorAnswer::sawAll() const {
  return std::ranges::all_of(libraries, [](const LibraryDiagnosis &library) { return library.unseen.empty(); });
}

Result<DoctorAnswer> examine(const DoctorRun &run) {
  const std::string hooks = MSL_TRY(findHooks({}).map_error([](Error error) {
    error.status = ExitStatus::OwnFault;
    return error;
  }));
  const HookedSymbols hooked = MSL_TRY(HookedSymbols::of(hooks, run.hooks));
  Findings findings(hooked);
  ProcessTracer tracer([&findings](pid_t thread) { findings.look(thread); });
  DoctorAnswer answer;
  answer.exit_status = MSL_TRY(runTraced(run, hooks, tracer));
  answer.processes = tracer.processes();
  answer.missed = tracer.missed();
  answer.libraries = findings.take();
  if (answer.libraries.empty())
    return fail(fmt::format("{}: ended before doctor could examine it", run.command[0]));
  return answer;
}

} // namespace msleaks::analysis::inline second_run
