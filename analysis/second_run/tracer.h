// Runs a program under ptrace until it ends, with all threads and child processes. An observer is told of their system
// calls, signals and ends.
#pragma once

#include "analysis/base/result.h"
#include "analysis/second_run/stopped_thread.h"

#include <any>
#include <deque>
#include <linux/filter.h>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline second_run {

class Tracer;

// ERESTARTSYS, the first of the results with which the kernel makes a call again.
inline constexpr int64_t kBegunAgain = -512;

// Holds the state that an observer keeps for a thread or a process. The first access creates it.
class Observed {
public:
  template <class State> State &as() {
    if (!state_.has_value())
      state_.emplace<State>();
    return *std::any_cast<State>(&state_);
  }

private:
  std::any state_;
};

// The memory of a process. A child of vfork shares the object of its parent. A child of fork gets a copy, also of the
// observer's state.
struct AddressSpace : Observed {
  explicit AddressSpace(pid_t pid) : pid(pid) {}
  pid_t pid;                // number of the process that got this memory first
  uint64_t instruction = 0; // address of an instruction that makes a system call
};

struct TracedThread : StoppedThread, Observed {
  TracedThread(Tracer *tracer, pid_t tid, pid_t process, std::shared_ptr<AddressSpace> space)
      : StoppedThread(tid), tracer(tracer), process(process), space(std::move(space)) {}

  Tracer *tracer;
  pid_t process; // number of its process
  std::shared_ptr<AddressSpace> space;
  enum class Where { Unborn, Stopped, Running, Ending };
  Where where = Where::Unborn;
  bool in_call = false;         // it stops at the end of the system call that it is in
  bool waits_for_child = false; // it is in vfork, and cannot be stopped
  bool is_interrupted = false;  // we have stopped it, perhaps in a system call
};

// The tracer calls these functions while the thread stands still. Afterwards the tracer continues the thread.
class TraceObserver {
public:
  virtual ~TraceObserver() = default;

  // Returns a program for seccomp(2), which decides at which system calls a thread stops.
  virtual std::vector<sock_filter> filter() const = 0;
  // Whether the thread stops at the end of its current call, and at the beginning and the end of each later call.
  virtual bool followsCalls(TracedThread &) { return false; }

  virtual void starts(TracedThread &) {}
  virtual void replaced(TracedThread &) {}                   // exec has replaced its images
  virtual void called(TracedThread &, const SystemCall &) {} // the filter has stopped this call at its beginning
  virtual void callBegins(TracedThread &, const SystemCall &) {}
  // If the call will be made again, the result is kBegunAgain or a similar error.
  virtual void callEnds(TracedThread &, int64_t /*result*/) {}
  // Returns the signal that the thread gets when it continues (0: none). Returns nothing if the tracer must not
  // continue the thread: it has stopped again already, or was killed.
  virtual std::optional<int> signalled(TracedThread &, int signal) { return signal; }

  struct Last {
    bool of_process = false; // the whole process ends. True once for each process
    bool of_memory = false;  // no other thread uses this memory any more. It is still mapped
  };
  virtual void ends(TracedThread &, Last) {}
};

class Tracer {
public:
  explicit Tracer(TraceObserver &observer) : observer_(observer), filter_(observer.filter()) {}
  Tracer(const Tracer &) = delete;
  Tracer &operator=(const Tracer &) = delete;

  // Begins to trace a fork's child that has called filterCalls and waits before its exec. Fails if the system does not
  // allow it.
  Result<void> seize(pid_t child);
  // The child calls this function. From then on the calls of the observer's filter stop, or fail if there is no tracer.
  void filterCalls() const;
  // Runs the program until it has called exec, or has ended because exec failed.
  void runToExec();
  // Runs the program until it and all its children have ended. Returns the wait status of the program.
  int run();

  size_t processes() const { return processes_; } // number of processes whose end the observer was told
  size_t missed() const { return missed_; }       // number of processes that ended without a stop

  // The observer may call these functions.
  std::map<pid_t, TracedThread> &threads() { return threads_; }
  bool isAlone(const TracedThread &) const; // whether no other thread uses this thread's memory
  // Stops the other threads that use this thread's memory, except those in a system call. `also_in_calls` includes
  // these. The observer is told later what each thread reports.
  void stopOthers(const TracedThread &, bool also_in_calls = false);
  // Continues only this thread, by a request of ptrace. Returns whether it stops at the signal `expected` next. If not,
  // the observer is told later what the thread reports.
  bool runTo(const TracedThread &, int request, int signal, int expected);
  // Handles this wait status of a thread later.
  void defer(const TracedThread &thread, int status) { deferred_.push_back({thread.tid(), status}); }

private:
  struct Stop {
    pid_t tid;
    int status;
  };
  struct Early { // a process that has stopped, but its parent has not yet reported its birth
    int status;
    std::shared_ptr<AddressSpace> memory; // the parent's
  };
  bool next();
  TracedThread &add(pid_t tid, pid_t process, std::shared_ptr<AddressSpace> = {}); // by default with new memory
  void onStop(TracedThread &, int status);
  void onEvent(TracedThread &, int event);
  void onEventStop(TracedThread &, int signal);
  void onCall(TracedThread &);
  void onCallStop(TracedThread &);
  void onBirth(TracedThread &parent, int event);
  void onExec(TracedThread &);
  void onExit(TracedThread &);
  void onEnded(pid_t tid, int status);
  void onEarly(pid_t tid, int status);
  void adoptOrphans();
  bool awaitsBirth(pid_t child);
  bool isBirthDeferred(pid_t child) const;
  void resume(TracedThread &, int signal = 0);
  void stop(TracedThread &);

  TraceObserver &observer_;
  std::vector<sock_filter> filter_;
  std::map<pid_t, TracedThread> threads_;
  std::map<pid_t, Early> early_;
  std::deque<Stop> deferred_;
  std::set<pid_t> alive_; // processes whose end the observer was not told yet
  size_t processes_ = 0, missed_ = 0;
  pid_t program_ = 0;
  bool is_started_ = false; // the program has called exec
  int status_ = 0;
};

} // namespace msleaks::analysis::inline second_run
