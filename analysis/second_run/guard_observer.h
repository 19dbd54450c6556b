// Answers the offers of a program's hooks (msleaks/abi/guarded.h), and sees whoever touches a guarded block.
//
// A thread that touches a closed page gets SIGSEGV. The tracer takes it back, has the thread open that part of the
// block, and lets it go on with the same instruction. A system call that is given a guarded block would fail instead,
// with EFAULT: the tracer opens the block before the call begins. Other calls do not stop.
#pragma once

#include "analysis/second_run/call_buffers.h"
#include "analysis/second_run/guarded_blocks.h"
#include "analysis/second_run/tracer.h"

#include <functional>
#include <memory>
#include <vector>

namespace msleaks::analysis::inline second_run {

// What the tracer asks and tells while the thread stands still. `process`: as in AddressSpace.
struct GuardUser {
  std::function<bool(const StoppedThread &, pid_t process, uint64_t bytes)> wants; // whether to guard such a block
  std::function<void(const StoppedThread &, pid_t process, const GuardedBlock &)> touched; // for the first time
  std::function<void(pid_t process)> replaced; // by exec: its images are others now
};

class GuardObserver final : public TraceObserver {
public:
  explicit GuardObserver(GuardUser user) : user_(std::move(user)) {}

  // Blocks of all processes, in the order of their births.
  const std::vector<std::shared_ptr<GuardedBlock>> &blocks() const { return blocks_; }
  bool loaded() const { return loaded_; }   // hooks that can guard
  bool refused() const { return refused_; } // not all blocks could be guarded

  std::vector<sock_filter> filter() const override { return filterOfGuardedCalls(); }
  bool followsCalls(TracedThread &thread) override { return thread.in_call; }
  void replaced(TracedThread &thread) override { user_.replaced(thread.tid()); }
  void called(TracedThread &, const SystemCall &) override;
  void callEnds(TracedThread &, int64_t result) override;
  std::optional<int> signalled(TracedThread &, int signal) override;
  void ends(TracedThread &, Last) override;

private:
  int64_t answer(TracedThread &, const SystemCall &);
  bool openForCall(TracedThread &, const SystemCall &);
  bool touch(TracedThread &, uint64_t address, uint64_t bytes, PageRange &closed);

  GuardUser user_;
  std::vector<std::shared_ptr<GuardedBlock>> blocks_;
  bool loaded_ = false, refused_ = false;
};

} // namespace msleaks::analysis::inline second_run
