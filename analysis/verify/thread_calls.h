// The calls that threads of a traced program are in, as a report has them.
#pragma once

#include "analysis/verify/thread_stack.h"

#include <map>
#include <memory>
#include <vector>

namespace msleaks::analysis {

class ThreadCalls {
public:
  // Innermost first; at most so many. `process`: any number that is the process' alone.
  std::vector<SiteText> of(const StoppedThread &, pid_t process, size_t most);
  std::vector<StackFrame> framesOf(const StoppedThread &, pid_t process, size_t most);
  void forget(pid_t process) { stacks_.erase(process); } // which has called exec

private:
  Symbolizer symbolizer_;
  std::map<pid_t, std::unique_ptr<ThreadStacks>> stacks_;
};

} // namespace msleaks::analysis
