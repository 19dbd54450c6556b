// Runs a program under ptrace, with all its threads and the children of forks and execs, from birth to end. Derived
// classes look at their calls and signals.
#pragma once

#include "analysis/base/result.h"
#include "analysis/second_run/stopped_thread.h"

#include <csignal>
#include <deque>
#include <linux/filter.h>
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace msleaks::analysis::inline second_run {

class Tracer {
public:
  virtual ~Tracer() = default;

  // For the child of a fork that waits before its exec, and has called filterCalls. An error: the system does not allow
  // it.
  Result<void> seize(pid_t child);
  // In that child: its calls that the tracer has to see stop for it. They fail where there is no tracer.
  void filterCalls() const;
  // Until the program and all its children have ended; returns the wait status of the program.
  int run();

  struct AddressSpace {
    explicit AddressSpace(pid_t pid) : pid(pid) {}
    virtual ~AddressSpace() = default;
    pid_t pid;                // its first thread's: the process' own number until it ends or calls exec
    uint64_t instruction = 0; // of one that makes a system call
    uint32_t threads = 1;     // that do not exit yet
  };

protected:
  struct Stop {
    pid_t tid;
    int status;
  };

  explicit Tracer(std::vector<sock_filter> filter) : filter_(std::move(filter)) {}

  virtual std::shared_ptr<AddressSpace> makeSpace(pid_t) const = 0;
  virtual std::shared_ptr<AddressSpace> copySpace(const AddressSpace &) const = 0; // a fork's

  virtual void onStart(pid_t tid) { resume(tid); }       // the first stop of a thread
  virtual void onInterrupted(pid_t tid) { resume(tid); } // by PTRACE_INTERRUPT
  virtual void onThreadEnd(pid_t) {}                     // which stops for the last time
  virtual void onSpaceEnd(AddressSpace &) {}             // its memory is still there
  virtual void onReplaced(pid_t tid) = 0;                // by exec: its images are others now
  virtual void onCall(pid_t tid) = 0;                    // that the filter stops, before it is made
  virtual void onCallStop(pid_t tid) = 0; // of a thread that was resumed up to its next call, or its call's end
  virtual void onSignal(pid_t tid, int signal) = 0;
  virtual void resume(pid_t tid, int signal = 0);

  const std::map<pid_t, std::shared_ptr<AddressSpace>> &threads() const { return threads_; }
  bool hasStarted(pid_t tid) const { return !unborn_.contains(tid); }
  bool waitsForChild(pid_t tid) const { return waiting_.contains(tid); } // in vfork: nothing else can stop it
  // One that somebody else has waited for: its turn comes.
  void defer(Stop stop) { deferred_.push_back(stop); }

private:
  bool next(Stop &);
  void onStop(pid_t tid, int status);
  void onEvent(pid_t tid, int event, int signal);
  void onExec(pid_t tid);
  void onBirth(pid_t parent, int event);
  void onExit(pid_t tid);

  std::vector<sock_filter> filter_;
  std::map<pid_t, std::shared_ptr<AddressSpace>> threads_;
  std::set<pid_t> early_;  // stopped before their birth was told
  std::set<pid_t> unborn_; // told, and not stopped yet
  std::set<pid_t> waiting_;
  std::deque<Stop> deferred_;
  pid_t program_ = 0;
  int status_ = 0;
};

} // namespace msleaks::analysis::inline second_run
