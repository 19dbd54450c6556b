// Decides which blocks the hooks of a program guard (msleaks/abi/guarded.h), and finds out who touches a guarded block.
//
// If a thread touches a closed page, the kernel raises SIGSEGV. The observer suppresses the signal, opens this part of
// the block, and lets the thread repeat the instruction. A system call with a guarded block would fail with EFAULT. So
// the observer opens the block before the call begins. Other calls do not stop.
#pragma once

#include "analysis/second_run/call_buffers.h"
#include "analysis/second_run/guarded_blocks.h"
#include "analysis/second_run/tracer.h"

#include <functional>
#include <memory>
#include <vector>

namespace msleaks::analysis::inline second_run {

// The observer calls these functions while the thread stands still. `process` is AddressSpace::pid.
struct GuardUser {
  std::function<bool(const StoppedThread &, pid_t process, uint64_t bytes)>
      wants; // whether to guard a block of this size
  std::function<void(const StoppedThread &, pid_t process, const GuardedBlock &)> touched; // the first touch of a block
  std::function<void(pid_t process)> replaced; // exec has replaced its images
};

class GuardObserver final : public TraceObserver {
public:
  explicit GuardObserver(GuardUser user) : user_(std::move(user)) {}

  // Returns the blocks of all processes, in the order of their allocation.
  const std::vector<std::shared_ptr<GuardedBlock>> &blocks() const { return blocks_; }
  bool loaded() const { return loaded_; }   // whether a process has loaded hooks that can guard blocks
  bool refused() const { return refused_; } // whether some blocks could not be guarded

  std::vector<sock_filter> filter() const override { return filterOfGuardedCalls(); }
  bool followsCalls(TracedThread &thread) override { return thread.in_call; }
  void starts(TracedThread &) override;
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
