// Runs a program under ptrace and shows each of its processes before an exec, before a library is unmapped, and at the
// very end, whatever ends it. The processes stop nowhere else.
#pragma once

#include "analysis/base/result.h"

#include <functional>
#include <map>
#include <set>
#include <sys/types.h>

namespace msleaks::analysis::inline second_run {

class ProcessTracer {
public:
  // `look`: at the process of a thread that stands still.
  explicit ProcessTracer(std::function<void(pid_t thread)> look) : look_(std::move(look)) {}

  // For the child of a fork that waits before its exec, and has called filterCalls. An error: the system does not allow
  // it.
  Result<void> seize(pid_t child);
  // In that child: the calls that are shown stop for the tracer. They fail where there is none.
  static void filterCalls();
  // Until it has called exec, or could not. Calls of exec stop, too.
  void runToExec();
  // Until the program and all its children have ended; returns the wait status of the program.
  int run();
  size_t processes() const { return processes_; } // shown at their end
  size_t missed() const { return missed_; }       // others: the system did not stop them there

private:
  bool next();
  void onStop(pid_t thread, int status);
  void onEvent(pid_t thread, int event, int signal);
  void onCall(pid_t thread);
  void onExit(pid_t thread);
  void lookAtEnd(pid_t thread);
  bool isLastOfProcess(pid_t thread) const;

  std::function<void(pid_t)> look_;
  std::map<pid_t, pid_t> threads_; // those that do not exit yet, and their processes
  pid_t program_ = 0;
  bool is_started_ = false; // the program, by exec
  int status_ = 0;
  std::set<pid_t> alive_; // processes that were not shown at their end
  size_t processes_ = 0, missed_ = 0;
};

} // namespace msleaks::analysis::inline second_run
