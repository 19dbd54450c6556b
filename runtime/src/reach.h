// Makes a process wait when it exits or sets a mark: until the collector has searched its memory for pointers to
// blocks.
#pragma once

namespace msleaks::runtime {

struct Arena;
// Wakes the collector, which otherwise checks every 5 ms. For this, creates a new file name in the session's directory.
// Call with Process::lock held.
void wakeCollector(const Arena &) noexcept;

// Waits until the collector has read the memory, if --reach marks is set. Returns immediately without this option, and
// also if another thread is waiting.
void waitAtMark() noexcept;

} // namespace msleaks::runtime
