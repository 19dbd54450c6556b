// Finds the buffers of a system call, and decides which calls stop for the tracer.
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

// Returns what may be buffers of the call. Each argument may be the address of a buffer, and the next argument its
// size. The lists of buffers of readv, sendmsg and similar calls are read, too. A call that only changes mappings has
// none.
std::vector<Buffer> buffersOf(pid_t process, const SystemCall &);

// Whether the call may have buffers that buffersOf does not find.
bool mayHideBuffers(const SystemCall &);

// Whether the call changes the mapping or the protection of pages. Its first argument is the address, the second the
// size.
bool changesMappings(const SystemCall &);

// These functions return programs for seccomp(2). With filterOf, only the calls with these numbers stop for the tracer.
std::vector<sock_filter> filterOf(std::initializer_list<long> calls);
// Here guard calls stop, calls with a guarded address as an argument, and calls whose buffers are not arguments.
std::vector<sock_filter> filterOfGuardedCalls();

} // namespace msleaks::analysis::inline second_run
