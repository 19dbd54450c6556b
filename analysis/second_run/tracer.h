// Runs a program under ptrace, with all its threads and the children of forks and execs, from birth to end. An observer
// looks at their calls, signals and ends.
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

inline constexpr int64_t kBegunAgain = -512; // ERESTARTSYS, the first of several

// Has room for a state that the observer needs: a default one until the observer has changed it.
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

// The memory of a process. A child of vfork has that of its parent; a child of fork has a copy, also of the observer's
// state.
struct AddressSpace : Observed {
  explicit AddressSpace(pid_t pid) : pid(pid) {}
  pid_t pid;                // its first thread's: the process' own number until it ends or calls exec
  uint64_t instruction = 0; // of one that makes a system call
};

struct TracedThread : StoppedThread, Observed {
  TracedThread(Tracer *tracer, pid_t tid, pid_t process, std::shared_ptr<AddressSpace> space)
      : StoppedThread(tid), tracer(tracer), process(process), space(std::move(space)) {}

  Tracer *tracer;
  pid_t process; // its number
  std::shared_ptr<AddressSpace> space;
  enum class Where { Unborn, Stopped, Running, Ending };
  Where where = Where::Unborn;
  bool in_call = false;         // it stops at the end of a call that it makes
  bool waits_for_child = false; // in vfork: nothing else can stop it
  bool is_interrupted = false;  // by us, perhaps in a call
};

// The observer is told while the thread stands still. Then the thread goes on.
class TraceObserver {
public:
  virtual ~TraceObserver() = default;

  // Which calls stop: a program for seccomp(2).
  virtual std::vector<sock_filter> filter() const = 0;
  // Whether the thread also stops at the beginning and the end of all other calls, from where it stands.
  virtual bool followsCalls(TracedThread &) { return false; }

  virtual void starts(TracedThread &) {}
  virtual void replaced(TracedThread &) {}                   // by exec: its images are others now
  virtual void called(TracedThread &, const SystemCall &) {} // that the filter stops, before it is made
  virtual void callBegins(TracedThread &, const SystemCall &) {}
  virtual void callEnds(TracedThread &, int64_t /*result*/) {} // kBegunAgain, or an error like it: made again
  // With which signal it goes on; 0: none. Nothing: it has stopped again already, or has gone.
  virtual std::optional<int> signalled(TracedThread &, int signal) { return signal; }

  struct Last {
    bool of_process = false; // it or the kernel ends the whole process. Told once of a process
    bool of_memory = false;  // no other thread has this memory, which is still there
  };
  virtual void ends(TracedThread &, Last) {}
};

class Tracer {
public:
  explicit Tracer(TraceObserver &observer) : observer_(observer), filter_(observer.filter()) {}
  Tracer(const Tracer &) = delete;
  Tracer &operator=(const Tracer &) = delete;

  // For the child of a fork that waits before its exec, and has called filterCalls. An error: the system does not allow
  // it.
  Result<void> seize(pid_t child);
  // In that child: its calls that the tracer has to see stop for it. They fail where there is no tracer.
  void filterCalls() const;
  // Until it has called exec, or could not.
  void runToExec();
  // Until the program and all its children have ended; returns the wait status of the program.
  int run();

  size_t processes() const { return processes_; } // of whose end the observer was told
  size_t missed() const { return missed_; }       // others that have ended: the system did not stop them there

  // For the observer.
  std::map<pid_t, TracedThread> &threads() { return threads_; }
  bool isAlone(const TracedThread &) const; // in its memory
  // The other threads of its memory: those that may run code of the program, or also those in a call. Each stands at
  // what it reports, until its turn comes.
  void stopOthers(const TracedThread &, bool also_in_calls = false);
  // The thread goes on alone. False: it reports something else than this signal first, whose turn comes.
  bool runTo(const TracedThread &, int request, int signal, int expected);
  // What somebody else has waited for: its turn comes.
  void defer(const TracedThread &thread, int status) { deferred_.push_back({thread.tid(), status}); }

private:
  struct Stop {
    pid_t tid;
    int status;
  };
  struct Early { // stopped before its birth was told
    int status;
    std::shared_ptr<AddressSpace> memory; // of its parent
  };
  bool next();
  TracedThread &add(pid_t tid, pid_t process, std::shared_ptr<AddressSpace> = {}); // without one: of its own
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
  void resume(TracedThread &, int signal = 0);
  void stop(TracedThread &);

  TraceObserver &observer_;
  std::vector<sock_filter> filter_;
  std::map<pid_t, TracedThread> threads_;
  std::map<pid_t, Early> early_;
  std::deque<Stop> deferred_;
  std::set<pid_t> alive_; // processes that have started, and of whose end the observer was not told
  size_t processes_ = 0, missed_ = 0;
  pid_t program_ = 0;
  bool is_started_ = false; // the program, by exec
  int status_ = 0;
};

} // namespace msleaks::analysis::inline second_run
