// A process that is not our child, watched until it ends.
#pragma once

#include "msleaks/analysis/file_descriptor.h"

#include <cstdint>

namespace msleaks::analysis {

class ProcessWatch {
public:
  // The process that has this number now.
  explicit ProcessWatch(uint32_t pid);

  // Whether it is known to have ended. It was reaped before it could be watched, or its pidfd says so; without a pidfd
  // (no file descriptor was left, an old kernel) it is asked for again each time.
  bool hasEnded();
  // How it ended, as from waitpid, after hasEnded(); -1 when nobody can tell any more. While it waits to be reaped the
  // kernel's process table tells, afterwards the pidfd (Linux 6.15).
  int waitStatus() const;
  // Neither watched nor known to have ended.
  bool unseen() const { return !pidfd_.valid() && !reaped_; }

private:
  void open();
  bool isThere() const;

  uint32_t pid_;
  FileDescriptor pidfd_;
  bool reaped_ = false; // before we came
};

} // namespace msleaks::analysis
