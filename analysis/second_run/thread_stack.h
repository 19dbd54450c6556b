// Reads the stack of a stopped thread of another process, and finds the functions and lines of its frames.
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
  ImageFile image;      // an empty path means that it is not known
  uint64_t address = 0; // in the file. For a call, an address within the call instruction
  bool is_call = true;  // false: the frame of the instruction at which the thread has stopped
};

// The stacks of one process, until it calls exec.
class ThreadStacks {
public:
  explicit ThreadStacks(pid_t pid);
  ~ThreadStacks();
  ThreadStacks(const ThreadStacks &) = delete;
  ThreadStacks &operator=(const ThreadStacks &) = delete;

  // Returns at most `most` frames, innermost first. The result is empty if the stack cannot be read.
  std::vector<StackFrame> of(const StoppedThread &, size_t most);

private:
  struct State;
  std::unique_ptr<State> state_;
};

// Returns the frame's place, with the functions that were inlined there.
SiteText textOf(Symbolizer &, const StackFrame &);

// Returns the calls of a traced program's threads in the form of a report.
class ThreadCalls {
public:
  // Returns at most `most` calls, innermost first. `process` can be any number that identifies the process.
  std::vector<SiteText> of(const StoppedThread &, pid_t process, size_t most);
  std::vector<StackFrame> framesOf(const StoppedThread &, pid_t process, size_t most);
  void forget(pid_t process) { stacks_.erase(process); } // after an exec of the process

private:
  Symbolizer symbolizer_;
  std::map<pid_t, std::unique_ptr<ThreadStacks>> stacks_;
};

} // namespace msleaks::analysis::inline second_run
