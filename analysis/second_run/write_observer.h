// Finds each instruction and system call that changes a watched block (msl_watch) while a thread is in the operation in
// question.
//
// During the operation the block's pages are closed to writes. If a thread writes to such a page, the kernel raises
// SIGSEGV. The observer suppresses the signal, stops the other threads of the process and opens the pages. It makes the
// thread execute this one instruction, and closes the pages. A system call with a buffer on such a page would fail with
// EFAULT. So the pages are open during the call, and each change in the call's buffers counts as made by the call.
#pragma once

#include "analysis/second_run/tracer.h"
#include "analysis/second_run/watched_process.h"
#include "msleaks/abi/guarded.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace msleaks::analysis::inline second_run {

// Selects the watched blocks, and the operation during which their changes count.
struct WriteQuestion {
  std::optional<std::string> name; // the name that msl_watch got. Nothing: it got none, and `bytes` must be equal
  bool is_told = true;             // msl_watch reports the block. False: the hooks report it
  uint64_t bytes = 0;              // size of the watched block
  uint64_t most_bytes = 0;         // of each block, only so many bytes are watched. 0: all bytes
  std::string operation;           // a range's name. Empty: changes count while a thread is in no range
};

struct Write {
  ChangedBytes bytes;
  bool by_call = false;   // made by a system call of the thread
  bool given = false;     // a buffer of this call begins in the block, or the call's buffers are not known
  bool is_within = false; // made during the operation in question
  std::string operation;  // the thread's range. Empty: the thread is in none
  std::optional<uint64_t> step;
};

// The observer calls these functions while the thread stands still. `process` is AddressSpace::pid.
struct WriteUser {
  // Whether to watch a block that the hooks have reported.
  std::function<bool(const StoppedThread &, pid_t process, uint64_t address)> wants;
  // The thread has the registers from before the instruction that wrote.
  std::function<void(const StoppedThread &, pid_t process, const Write &)> written;
  std::function<void(pid_t process)> replaced; // exec has replaced its images
};

class WriteObserver final : public TraceObserver {
public:
  WriteObserver(WriteQuestion question, WriteUser user) : question_(std::move(question)), user_(std::move(user)) {}

  bool loaded() const { return loaded_; } // whether a process has a runtime that reports watches
  uint64_t blocks() const { return blocks_; }
  uint64_t watchedBytes() const { return watched_bytes_; }
  uint64_t operations() const { return operations_; } // how often a thread has entered the operation in question
  bool isIncomplete() const { return incomplete_; }   // whether some changes could not be seen

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

  bool isAsked(const TracedThread &) const; // whether a thread of its process is in the operation
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
