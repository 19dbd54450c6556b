// Makes a process wait when it exits or sets a mark. During the wait, the collector searches the process's memory for
// pointers to blocks.
#pragma once

namespace msleaks::runtime {

struct Arena;
// Wakes the collector by creating a new file name in the session's directory. Without this, the collector checks every
// 5 ms. Call with Process::lock held.
void wakeCollector(const Arena &) noexcept;

// If the session has the option --reach marks, waits until the collector has read the memory. Does not wait if another
// thread is waiting.
void waitAtMark() noexcept;

} // namespace msleaks::runtime
