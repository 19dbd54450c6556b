// The memory that a system call is given.
#pragma once

#include "analysis/second_run/stopped_thread.h"

#include <cstdint>
#include <initializer_list>
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

// Programs for seccomp(2). The calls that they name stop for the tracer; all others go on without a stop.
std::vector<sock_filter> filterOf(std::initializer_list<long> calls);
// Guard calls, those with a guarded address among their arguments, and those that are given buffers otherwise.
std::vector<sock_filter> filterOfGuardedCalls();

} // namespace msleaks::analysis::inline second_run
