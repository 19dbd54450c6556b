// Watches a process until it ends. The process need not be a child.
#pragma once

#include "analysis/base/files.h"

#include <cstdint>

namespace msleaks::analysis::inline reach {

class ProcessWatch {
public:
  // Watches the process with this pid, if it is the same that had the pid at `attach_ns` (CLOCK_MONOTONIC). If `birth`
  // is known, the process must have this birth (abi::isOtherProcess; 0 = not known).
  explicit ProcessWatch(uint32_t pid, uint64_t attach_ns = UINT64_MAX, uint64_t birth = 0);

  // Whether the process is known to have ended. It was reaped before it could be watched, or its pidfd says so. Without
  // a pidfd (no free file descriptor, or an old kernel), each call tries to open one.
  bool hasEnded();
  // When hasEnded() first returned true; 0: the process had ended before it could be watched.
  uint64_t endedNs() const { return ended_ns_; }
  // Returns a descriptor that is readable when the process has ended; -1: there is none.
  int pidfd() const { return pidfd_.get(); }
  // Returns how the process ended, as waitpid does; call this after hasEnded(). -1: not known any more. Before the
  // process is reaped, /proc has the status. Afterwards the pidfd has it (Linux 6.15).
  int waitStatus() const;
  // Whether the process is not watched, and is not known to have ended.
  bool unseen() const { return !pidfd_.valid() && !reaped_; }

private:
  void open();
  bool pollEnd() const;
  bool isThere() const;
  bool isAnother() const;

  uint32_t pid_;
  uint64_t attach_ns_, birth_;
  FileDescriptor pidfd_;
  bool reaped_ = false; // before it could be watched
  bool was_alive_ = false;
  uint64_t ended_ns_ = 0;
};

} // namespace msleaks::analysis::inline reach
