#include "analysis/base/base_name.h"
#include "analysis/base/clock.h"
#include "analysis/launch/hooks_library.h"
#include "analysis/launch/program.h"
#include "analysis/launch/terminal_signals.h"
#include "analysis/verify/allocation_place.h"
#include "analysis/verify/thread_stack.h"
#include "analysis/verify/tracer.h"
#include "analysis/verify/verification.h"
#include "msleaks/abi/flags.h"
#include "msleaks/abi/guarded.h"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

namespace msleaks::analysis {
namespace {

constexpr uint64_t kLeastBytes = 16384; // smaller blocks are in no finding of what was touched (flags.def, access_min)
constexpr size_t kShownCalls = 64, kMostPaths = 16;
constexpr size_t kOwnCalls = 8; // of the hooks, between the allocator's caller and the tracer

bool isHooks(const SiteText &call) { return baseName(call.library).starts_with("libmsleaks_hooks"); }

// Which allocations are the finding's, and who touches them.
class Observer {
public:
  explicit Observer(const Finding &finding) : place_(finding) {}

  bool wants(const StoppedThread &thread, pid_t process) {
    std::vector<SiteText> calls = callsOf(thread, process, place_.depth() + kOwnCalls);
    const auto hooks = std::find_if(calls.rbegin(), calls.rend(), isHooks);
    calls.erase(calls.begin(), hooks.base());
    return place_.holds(calls);
  }

  void touched(const StoppedThread &thread, pid_t process) {
    std::vector<SiteText> calls = callsOf(thread, process, kShownCalls);
    const auto known =
        std::find_if(touches_.begin(), touches_.end(), [&](const TouchPath &path) { return path.calls == calls; });
    if (known != touches_.end())
      ++known->blocks;
    else if (touches_.size() < kMostPaths)
      touches_.push_back({std::move(calls), 1});
  }

  void replaced(pid_t process) { stacks_.erase(process); }

  std::vector<TouchPath> touches() {
    std::stable_sort(touches_.begin(), touches_.end(),
                     [](const TouchPath &left, const TouchPath &right) { return left.blocks > right.blocks; });
    return touches_;
  }

private:
  std::vector<SiteText> callsOf(const StoppedThread &thread, pid_t process, size_t most) {
    auto &stacks = stacks_[process];
    if (!stacks)
      stacks = std::make_unique<ThreadStacks>(process);
    std::vector<SiteText> calls;
    for (const StackFrame &frame : stacks->of(thread, most))
      calls.push_back(textOf(symbolizer_, frame));
    return calls;
  }

  AllocationPlace place_;
  Symbolizer symbolizer_;
  std::map<pid_t, std::unique_ptr<ThreadStacks>> stacks_;
  std::vector<TouchPath> touches_;
};

int exitStatusOf(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

// The program under the tracer; returns its exit status.
Result<int> runGuarded(const SecondRun &run, Tracer &tracer) {
  const auto told = [](const LaunchError &error) { return Error{error.message, ExitStatus::BadInput}; };
  const auto program = MSL_TRY(findProgram(run.command[0]).map_error(told));
  const std::string hooks = MSL_TRY(findHooks({}));
  const auto environment =
      makeEnvironment(fmt::format("{}={}", abi::kGuardVariable, kLeastBytes), preloadsFor(program, hooks));
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

// More than `judge` knows may stand against a verdict.
Judgement judgeRun(const Finding &finding, const GuardedSum &sum, const Tracer &tracer) {
  if (!tracer.loaded())
    return {Outcome::Unknown, "the program did not load the hooks (is it linked statically?)"};
  const Judgement judgement = judge(finding, sum);
  if (tracer.refused() && judgement.outcome == Outcome::Refuted)
    return {Outcome::Unknown, "more blocks were allocated there than can be guarded"};
  return judgement;
}

} // namespace

Result<Verification> verify(const Finding &finding, const SecondRun &run) {
  Verification verification;
  verification.finding = finding.id;
  verification.kind = finding.kind;
  verification.allocated_at = finding.site;
  verification.judgement.why = whyNotVerifiable(finding);
  if (!verification.judgement.why.empty())
    return verification;
  Observer observer(finding);
  Tracer tracer({
      .wants = [&](const StoppedThread &thread, pid_t process, uint64_t) { return observer.wants(thread, process); },
      .touched = [&](const StoppedThread &thread, pid_t process,
                     const GuardedBlock &) { observer.touched(thread, process); },
      .replaced = [&](pid_t process) { observer.replaced(process); },
  });
  verification.exit_status = MSL_TRY(runGuarded(run, tracer));
  verification.sum = sumOf(tracer.blocks(), readMonotonicNs(), static_cast<uint64_t>(sysconf(_SC_PAGESIZE)));
  verification.touches = observer.touches();
  verification.judgement = judgeRun(finding, verification.sum, tracer);
  return verification;
}

} // namespace msleaks::analysis
