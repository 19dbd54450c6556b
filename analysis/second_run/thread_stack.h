// The calls that a stopped thread of another process is in, and what they are called.
#pragma once

#include "analysis/places/site_text.h"
#include "analysis/places/symbolizer.h"
#include "analysis/second_run/stopped_thread.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace msleaks::analysis::inline second_run {

struct StackFrame {
  ImageFile image;      // empty path: not known
  uint64_t address = 0; // as in the file; of a call: within the instruction
  bool is_call = true;  // false: of the instruction at which the thread stopped
};

// Of one process, until it calls exec.
class ThreadStacks {
public:
  explicit ThreadStacks(pid_t pid);
  ~ThreadStacks();
  ThreadStacks(const ThreadStacks &) = delete;
  ThreadStacks &operator=(const ThreadStacks &) = delete;

  // Innermost first; at most so many. Empty: there is no telling.
  std::vector<StackFrame> of(const StoppedThread &, size_t most);

private:
  struct State;
  std::unique_ptr<State> state_;
};

// With the functions that were inlined there.
SiteText textOf(Symbolizer &, const StackFrame &);

// The calls that threads of a traced program are in, as a report has them.
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

} // namespace msleaks::analysis::inline second_run
