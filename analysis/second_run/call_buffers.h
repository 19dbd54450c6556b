// The memory that a system call is given.
#pragma once

#include "analysis/second_run/stopped_thread.h"

#include <cstdint>
#include <linux/filter.h>
#include <vector>

namespace msleaks::analysis::inline second_run {

struct Buffer {
  uint64_t address = 0, bytes = 0;
};

// What may be buffers among the arguments: every argument is, for as many bytes as the next one says. And the buffers
// that the call's arguments list (readv, sendmsg). None for a call that only changes what is mapped.
std::vector<Buffer> buffersOf(pid_t process, const SystemCall &);

// Whether the call may be given buffers that buffersOf does not know: what its arguments point to names them.
bool mayHideBuffers(const SystemCall &);

// Whether it takes pages away, or changes what may be done with them: from its first argument on, as many bytes as the
// second one says.
bool changesMappings(const SystemCall &);

// The calls that the tracer has to see: guard calls, those with a guarded address among their arguments, and those that
// are given buffers otherwise. A program for seccomp(2); all other calls go on without a stop.
std::vector<sock_filter> filterOfCalls();
std::vector<sock_filter> filterOfGuardCalls(); // nothing but those

} // namespace msleaks::analysis::inline second_run
