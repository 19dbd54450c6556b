// A process that is not our child, watched until it ends.
#pragma once

#include "analysis/base/files.h"

#include <cstdint>

namespace msleaks::analysis::inline reach {

class ProcessWatch {
public:
  // The process that has this number, if it is the one that had it at `attach_ns` (CLOCK_MONOTONIC), and the one of
  // this birth (abi::isOtherProcess; 0 = not known).
  explicit ProcessWatch(uint32_t pid, uint64_t attach_ns = UINT64_MAX, uint64_t birth = 0);

  // Whether the process is known to have ended: it was reaped before it could be watched, or its pidfd says so. Without
  // a pidfd (no file descriptor was left, an old kernel) it is asked for again each time.
  bool hasEnded();
  // When hasEnded() first said so; 0 when the process had ended before it could be watched.
  uint64_t endedNs() const { return ended_ns_; }
  // Readable when the process ends; -1 when there is none.
  int pidfd() const { return pidfd_.get(); }
  // How it ended, as from waitpid, after hasEnded(); -1 when nobody can tell any more. While it waits to be reaped the
  // kernel's process table tells, afterwards the pidfd (Linux 6.15).
  int waitStatus() const;
  // Neither watched nor known to have ended.
  bool unseen() const { return !pidfd_.valid() && !reaped_; }

private:
  void open();
  bool pollEnd() const;
  bool isThere() const;
  bool isAnother() const;

  uint32_t pid_;
  uint64_t attach_ns_, birth_;
  FileDescriptor pidfd_;
  bool reaped_ = false; // before we came
  bool was_alive_ = false;
  uint64_t ended_ns_ = 0;
};

} // namespace msleaks::analysis::inline reach
