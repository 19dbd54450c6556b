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

#include <functional>
#include <map>
#include <memory>
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

class WriteTracer final : public Tracer {
public:
  WriteTracer(WriteQuestion question, WriteUser user);
  ~WriteTracer() override;

  bool loaded() const { return loaded_; } // a runtime that tells
  uint64_t blocks() const { return blocks_; }
  uint64_t watchedBytes() const { return watched_bytes_; }
  uint64_t operations() const { return operations_; } // how often a thread was in the operation in question
  bool isIncomplete() const { return incomplete_; }   // not all changes could be told from others

private:
  WatchingProcess &of(pid_t tid);
  WatchingThread &thread(pid_t tid);

  std::shared_ptr<AddressSpace> makeSpace(pid_t) const override;
  std::shared_ptr<AddressSpace> copySpace(const AddressSpace &) const override;
  void onStart(pid_t tid) override;
  void onCall(pid_t tid) override;
  void onCallStop(pid_t tid) override;
  void onSignal(pid_t tid, int signal) override;
  void onReplaced(pid_t tid) override;
  void onInterrupted(pid_t tid) override;
  void onThreadEnd(pid_t tid) override;
  void resume(pid_t tid, int signal = 0) override;

  // Threads of the process but this one: those that may run code of the program, or all.
  enum class Which { Running, All };
  void stopOthers(pid_t tid, Which);

  int64_t answer(pid_t tid, const SystemCall &);
  void perform(pid_t tid, const Told &);
  void watch(pid_t tid, PageRange bytes);
  void unwatch(pid_t tid, uint64_t address);

  void beginCall(pid_t tid);
  void endCall(pid_t tid);
  void noteGiven(pid_t tid, const SystemCall &);
  void leaveChanged(pid_t tid, const SystemCall &);
  void tellWritesOfCall(pid_t tid);

  bool isAsked(const WatchingProcess &) const; // a thread of it is in the operation
  bool isHeld(const WatchingProcess &) const;  // a call of it is given pages
  bool isWithin(pid_t tid) const;
  void setPages(pid_t tid, bool closed);
  void openForCall(pid_t tid);
  void update(pid_t tid);
  void noteUnseen(WatchingProcess &);
  void write(pid_t tid, uint64_t address);
  void tellWrites(pid_t tid, const user_regs_struct &before, const user_regs_struct &after, PageRange written);
  bool sendAgain(pid_t tid, siginfo_t &);
  void runHandler(pid_t tid, int signal);
  void tell(pid_t tid, ChangedBytes, bool by_call, bool given);

  WriteQuestion question_;
  WriteUser user_;
  std::map<pid_t, std::unique_ptr<WatchingThread>> states_;
  uint64_t blocks_ = 0, watched_bytes_ = 0, operations_ = 0;
  bool loaded_ = false, incomplete_ = false;
};

} // namespace msleaks::analysis::inline second_run
