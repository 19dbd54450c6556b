// Sees each instruction and system call that changes a watched block (msl_watch), while a thread is in the operation in
// question.
//
// Meanwhile the block's pages are closed to writes. A thread that writes on one gets SIGSEGV. The tracer takes it back
// and opens the pages. The thread makes that one instruction while no other thread of the process runs, and the pages
// are closed. A system call that is given one of the pages would fail with EFAULT. So they are open from its beginning
// to its end, and the call has made every change in the buffers that it was given.
#pragma once

#include "analysis/second_run/tracer.h"
#include "analysis/second_run/watched_process.h"
#include "msleaks/abi/guarded.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace msleaks::analysis::inline second_run {

// Which watched blocks are asked about, and when.
struct WriteQuestion {
  std::optional<std::string> name; // of msl_watch; nothing: has none, then `bytes` must agree
  bool is_told = true;             // by msl_watch; false: it is of the blocks that the hooks tell of
  uint64_t bytes = 0;              // of the block that is watched
  uint64_t most_bytes = 0;         // of each block no more is watched; 0: all
  std::string operation;           // a range's name; empty: while a thread is in none
};

struct Write {
  ChangedBytes bytes;
  bool by_call = false;   // the kernel, for a call of the thread
  bool given = false;     // to that call: it begins in the block, or nobody knows what it was given
  bool is_within = false; // the operation in question
  std::string operation;  // the thread's range; empty: none
  std::optional<uint64_t> step;
};

// What the tracer asks and tells while the thread stands still. `process`: as in AddressSpace.
struct WriteUser {
  // Whether a block of the hooks' is one of those in question.
  std::function<bool(const StoppedThread &, pid_t process, uint64_t address)> wants;
  // The thread stands at the instruction that wrote, as if it had not been made yet.
  std::function<void(const StoppedThread &, pid_t process, const Write &)> written;
  std::function<void(pid_t process)> replaced; // by exec: its images are others now
};

class WriteObserver final : public TraceObserver {
public:
  WriteObserver(WriteQuestion question, WriteUser user) : question_(std::move(question)), user_(std::move(user)) {}

  bool loaded() const { return loaded_; } // a runtime that tells
  uint64_t blocks() const { return blocks_; }
  uint64_t watchedBytes() const { return watched_bytes_; }
  uint64_t operations() const { return operations_; } // how often a thread was in the operation in question
  bool isIncomplete() const { return incomplete_; }   // not all changes could be told from others

  std::vector<sock_filter> filter() const override { return filterOf({abi::kGuardCall}); }
  bool followsCalls(TracedThread &) override;
  void starts(TracedThread &) override;
  void replaced(TracedThread &thread) override { user_.replaced(thread.tid()); }
  void called(TracedThread &, const SystemCall &) override;
  void callBegins(TracedThread &, const SystemCall &) override;
  void callEnds(TracedThread &, int64_t result) override;
  std::optional<int> signalled(TracedThread &, int signal) override;
  void ends(TracedThread &, Last) override;

private:
  int64_t answer(TracedThread &, const SystemCall &);
  void perform(TracedThread &, const Told &);
  void watch(TracedThread &, PageRange bytes);
  void unwatch(TracedThread &, uint64_t address);

  void noteGiven(TracedThread &, const SystemCall &);
  void leaveChanged(TracedThread &, const SystemCall &);
  void tellWritesOfCall(TracedThread &);

  bool isAsked(const TracedThread &) const; // a thread of its process is in the operation
  bool isWithin(TracedThread &) const;
  void update(TracedThread &);
  void noteUnseen(const TracedThread &);
  std::optional<int> write(TracedThread &, uint64_t address);
  void tellWrites(TracedThread &, const user_regs_struct &before, const user_regs_struct &after, PageRange written);
  void tell(TracedThread &, ChangedBytes, bool by_call, bool given);

  WriteQuestion question_;
  WriteUser user_;
  uint64_t blocks_ = 0, watched_bytes_ = 0, operations_ = 0;
  bool loaded_ = false, incomplete_ = false;
};

} // namespace msleaks::analysis::inline second_run
