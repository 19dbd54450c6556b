// The calls that a stopped thread of another process is in, and what they are called.
#pragma once

#include "analysis/places/site_text.h"
#include "analysis/places/symbolizer.h"
#include "analysis/verify/stopped_thread.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace msleaks::analysis {

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

} // namespace msleaks::analysis
