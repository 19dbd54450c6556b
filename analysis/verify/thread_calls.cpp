#include "analysis/verify/thread_calls.h"

namespace msleaks::analysis {

std::vector<StackFrame> ThreadCalls::framesOf(const StoppedThread &thread, pid_t process, size_t most) {
  auto &stacks = stacks_[process];
  if (!stacks)
    stacks = std::make_unique<ThreadStacks>(process);
  return stacks->of(thread, most);
}

std::vector<SiteText> ThreadCalls::of(const StoppedThread &thread, pid_t process, size_t most) {
  std::vector<SiteText> calls;
  for (const StackFrame &frame : framesOf(thread, process, most))
    calls.push_back(textOf(symbolizer_, frame));
  return calls;
}

} // namespace msleaks::analysis
