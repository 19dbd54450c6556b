#include "analysis/base/machine.h"
#include "analysis/base/preload.h"
#include "analysis/base/text.h"
#include "analysis/places/line_code.h"
#include "analysis/reach/process_memory.h"
#include "analysis/result/finding_kinds.h"
#include "analysis/second_run/allocation_place.h"
#include "analysis/second_run/guard_observer.h"
#include "analysis/second_run/second_run.h"
#include "analysis/second_run/thread_stack.h"
#include "analysis/second_run/writes.h"
#include "msleaks/abi/flags.h"
#include "msleaks/abi/guarded.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace msleaks::analysis::inline second_run {
namespace {

constexpr size_t kShownCalls = 64, kMostPaths = 16;
constexpr size_t kOwnCalls = 8; // frames of the hooks inside of the allocator's caller

constexpr char kNotLoaded[] = "the program did not load the hooks (is it linked statically?)";

Result<int> runAgain(const SecondRun &run, TraceObserver &observer, const std::string &variable) {
  if (!kCanTrace)
    return fail("verify needs an x86-64 processor");
  Tracer tracer(observer);
  return runTraced({.command = run.command,
                    .hooks = MSL_TRY(findHooks({})),
                    .other_hooks = {},
                    .variable = variable,
                    .stdout_to_stderr = run.stdout_to_stderr},
                   tracer);
}

bool isHooks(const SiteText &call) { return baseName(call.library).starts_with("libmsleaks_hooks"); }

// Decides which allocations belong to the finding, and collects the calls that touch their blocks first.
class TouchedCalls {
public:
  explicit TouchedCalls(const Finding &finding) : place_(finding) {}

  bool wants(const StoppedThread &thread, pid_t process) {
    std::vector<SiteText> calls = calls_.of(thread, process, place_.depth() + kOwnCalls);
    const auto hooks = std::find_if(calls.rbegin(), calls.rend(), isHooks);
    calls.erase(calls.begin(), hooks.base());
    return place_.holds(calls);
  }

  void touched(const StoppedThread &thread, pid_t process) {
    std::vector<SiteText> calls = calls_.of(thread, process, kShownCalls);
    const auto known =
        std::find_if(touches_.begin(), touches_.end(), [&](const TouchPath &path) { return path.calls == calls; });
    if (known != touches_.end())
      ++known->blocks;
    else if (touches_.size() < kMostPaths)
      touches_.push_back({std::move(calls), 1});
  }

  void replaced(pid_t process) { calls_.forget(process); }

  std::vector<TouchPath> touches() {
    std::stable_sort(touches_.begin(), touches_.end(),
                     [](const TouchPath &left, const TouchPath &right) { return left.blocks > right.blocks; });
    return touches_;
  }

private:
  AllocationPlace place_;
  ThreadCalls calls_;
  std::vector<TouchPath> touches_;
};

Result<void> verifyTouches(const Finding &finding, const SecondRun &run, Verification &verification) {
  TouchedCalls calls(finding);
  GuardObserver guard({
      .wants = [&](const StoppedThread &thread, pid_t process, uint64_t) { return calls.wants(thread, process); },
      .touched = [&](const StoppedThread &thread, pid_t process,
                     const GuardedBlock &) { calls.touched(thread, process); },
      .replaced = [&](pid_t process) { calls.replaced(process); },
  });
  verification.exit_status =
      MSL_TRY(runAgain(run, guard, fmt::format("{}={}", abi::kGuardVariable, kLeastGuardedBytes)));
  verification.sum = sumOf(guard.blocks(), readMonotonicNs(), systemPageBytes());
  verification.touches = calls.touches();
  verification.sum.refused = guard.refused();
  verification.judgement = guard.loaded() ? judge(finding, verification.sum) : Judgement{.why = kNotLoaded};
  return {};
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
  MSL_TRY((isOf(finding, finding_kinds::kTrampled) ? verifyWrites : verifyTouches)(finding, run, verification));
  return verification;
}

namespace {

constexpr size_t kShownWriterCalls = 64, kMostShownPaths = 16;

// Whether a block was allocated by a call at the line that --watch names, or is at the address that --watch names.
class WatchedLine {
public:
  explicit WatchedLine(const abi::WatchWish &wish) : wish_(wish) {}

  bool makes(const std::vector<StackFrame> &frames, uint64_t address) {
    if (wish_.kind == abi::WatchKind::Address)
      return address == wish_.address;
    return std::ranges::any_of(frames, [&](const StackFrame &frame) {
      return std::ranges::any_of(codeIn(frame.image.path), [&](const CodeRange &code) {
        return frame.address >= code.begin && frame.address < code.end;
      });
    });
  }

private:
  const std::vector<CodeRange> &codeIn(const std::string &image) {
    const auto known = code_.find(image);
    return known != code_.end() ? known->second
                                : code_.emplace(image, codeOfLine(image, wish_.what, wish_.line)).first->second;
  }

  abi::WatchWish wish_;
  std::map<std::string, std::vector<CodeRange>> code_; // code of the line, by image
};

} // namespace

Result<void> verifyWrites(const Finding &finding, const SecondRun &run, Verification &verification) {
  const WriteQuestion question = questionOf(finding, run.watch);
  WatchedLine line(run.watch);
  ThreadCalls calls;
  Writes writes;
  WriteObserver observer(
      question,
      {
          .wants =
              [&](const StoppedThread &thread, pid_t process, uint64_t address) {
                return line.makes(calls.framesOf(thread, process, kShownWriterCalls), address);
              },
          .written = [&](const StoppedThread &thread, pid_t process,
                         const Write &write) { writes.add(write, calls.of(thread, process, kShownWriterCalls)); },
          .replaced = [&](pid_t process) { calls.forget(process); },
      });
  verification.exit_status =
      MSL_TRY(runAgain(run, observer, fmt::format("{}={}", abi::kTellVariable, toldBytes(question))));
  verification.writes = WriteSum{observer.blocks(), observer.watchedBytes(), observer.operations(),
                                 observer.isIncomplete(), writes.paths(kMostShownPaths)};
  verification.judgement =
      observer.loaded() ? judgeWrites(finding, *verification.writes) : Judgement{Outcome::Unknown, kNotLoaded};
  return {};
}

} // namespace msleaks::analysis::inline second_run
