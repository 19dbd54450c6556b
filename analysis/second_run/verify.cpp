#include "analysis/base/machine.h"
#include "analysis/base/text.h"
#include "analysis/places/line_code.h"
#include "analysis/result/finding_kinds.h"
#include "analysis/second_run/allocation_place.h"
#include "analysis/second_run/guard_tracer.h"
#include "analysis/second_run/second_run.h"
#include "analysis/second_run/thread_stack.h"
#include "analysis/second_run/writes.h"
#include "msleaks/abi/flags.h"
#include "msleaks/abi/guarded.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <unistd.h>

namespace msleaks::analysis::inline second_run {
namespace {

constexpr uint64_t kLeastBytes = 16384; // smaller blocks are in no finding of what was touched (flags.def, access_min)
constexpr size_t kShownCalls = 64, kMostPaths = 16;
constexpr size_t kOwnCalls = 8; // frames of the hooks, between the allocator's caller and the tracer

bool isHooks(const SiteText &call) { return baseName(call.library).starts_with("libmsleaks_hooks"); }

// Which allocations are the finding's, and who touches them.
class Observer {
public:
  explicit Observer(const Finding &finding) : place_(finding) {}

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
  Observer observer(finding);
  GuardTracer tracer({
      .wants = [&](const StoppedThread &thread, pid_t process, uint64_t) { return observer.wants(thread, process); },
      .touched = [&](const StoppedThread &thread, pid_t process,
                     const GuardedBlock &) { observer.touched(thread, process); },
      .replaced = [&](pid_t process) { observer.replaced(process); },
  });
  verification.exit_status = MSL_TRY(runTraced(run, tracer, fmt::format("{}={}", abi::kGuardVariable, kLeastBytes)));
  verification.sum = sumOf(tracer.blocks(), readMonotonicNs(), static_cast<uint64_t>(sysconf(_SC_PAGESIZE)));
  verification.touches = observer.touches();
  verification.sum.refused = tracer.refused();
  verification.judgement = tracer.loaded() ? judge(finding, verification.sum) : Judgement{.why = kNotLoaded};
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

// Whether a block is made by a call at the line that --watch names, or lies at its address.
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
  std::map<std::string, std::vector<CodeRange>> code_; // by image
};

} // namespace

Result<void> verifyWrites(const Finding &finding, const SecondRun &run, Verification &verification) {
  const WriteQuestion question = questionOf(finding, run.watch);
  WatchedLine line(run.watch);
  ThreadCalls calls;
  Writes writes;
  WriteTracer tracer(question, {
                                   .wants =
                                       [&](const StoppedThread &thread, pid_t process, uint64_t address) {
                                         return line.makes(calls.framesOf(thread, process, kShownWriterCalls), address);
                                       },
                                   .written =
                                       [&](const StoppedThread &thread, pid_t process, const Write &write) {
                                         writes.add(write, calls.of(thread, process, kShownWriterCalls));
                                       },
                                   .replaced = [&](pid_t process) { calls.forget(process); },
                               });
  verification.exit_status =
      MSL_TRY(runTraced(run, tracer, fmt::format("{}={}", abi::kTellVariable, toldBytes(question))));
  verification.writes = WriteSum{tracer.blocks(), tracer.watchedBytes(), tracer.operations(), tracer.isIncomplete(),
                                 writes.paths(kMostShownPaths)};
  verification.judgement =
      tracer.loaded() ? judgeWrites(finding, *verification.writes) : Judgement{Outcome::Unknown, kNotLoaded};
  return {};
}

} // namespace msleaks::analysis::inline second_run
