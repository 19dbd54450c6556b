#include "analysis/places/line_code.h"
#include "analysis/verify/second_run.h"
#include "analysis/verify/thread_calls.h"
#include "analysis/verify/writes.h"
#include "msleaks/abi/guarded.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace msleaks::analysis {
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

} // namespace msleaks::analysis
