// Runs a program under ptrace: answers the offers of its hooks (msleaks/abi/guarded.h), and sees whoever touches a
// guarded block.
//
// A thread that touches a closed page gets SIGSEGV: it is taken back, that part of the block is opened by a call that
// the thread is made to do, and the thread goes on with the same instruction. A system call that is given a guarded
// block would fail instead, with EFAULT: what it is given is opened before it begins. Other calls do not stop.
#pragma once

#include "analysis/base/result.h"
#include "analysis/verify/call_buffers.h"
#include "analysis/verify/guarded_blocks.h"
#include "analysis/verify/stopped_thread.h"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace msleaks::analysis {

// What the tracer asks and tells while the thread stands still. `process`: any number that is the process' alone until
// it ends or calls exec.
struct TracerUser {
  std::function<bool(const StoppedThread &, pid_t process, uint64_t bytes)> wants; // whether to guard such a block
  std::function<void(const StoppedThread &, pid_t process, const GuardedBlock &)> touched; // for the first time
  std::function<void(pid_t process)> replaced; // by exec: its images are others now
};

class Tracer {
public:
  explicit Tracer(TracerUser user) : user_(std::move(user)) {}

  // For the child of a fork that waits before its exec, and has called filterCalls. An error: the system does not allow
  // it.
  Result<void> seize(pid_t child);
  // In that child: its calls that the tracer has to see stop for it. They fail where there is no tracer.
  void filterCalls() const;
  // Until the program and all its children have ended; returns the wait status of the program.
  int run();

  // Of all processes, in the order of their births.
  const std::vector<std::shared_ptr<GuardedBlock>> &blocks() const { return blocks_; }
  bool loaded() const { return loaded_; }   // hooks that can guard
  bool refused() const { return refused_; } // more blocks than can be guarded

private:
  struct Process;
  void onStop(pid_t tid, int status);
  void onEvent(pid_t tid, int event, int signal);
  void onExec(pid_t tid);
  void onBirth(pid_t parent, int event);
  void onExit(pid_t tid);
  void onSignal(pid_t tid, int signal);
  void onCall(pid_t tid);
  void onCallEnd(pid_t tid);
  int64_t answer(Process &, const StoppedThread &, const SystemCall &);
  bool openForCall(Process &, const StoppedThread &, const SystemCall &);
  bool touch(Process &, const StoppedThread &, uint64_t address, uint64_t bytes, PageRange &closed);
  void resume(pid_t tid, int signal = 0);

  TracerUser user_;
  std::vector<sock_filter> filter_ = filterOfCalls();
  std::map<pid_t, std::shared_ptr<Process>> threads_;
  std::set<pid_t> early_; // stopped before their birth was told
  std::vector<std::shared_ptr<GuardedBlock>> blocks_;
  pid_t program_ = 0;
  int status_ = 0;
  bool loaded_ = false, refused_ = false;
};

} // namespace msleaks::analysis
