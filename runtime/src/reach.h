// Lets a process wait, when it exits or sets a mark, until the collector has read its memory for pointers to blocks.
#pragma once

namespace msleaks::runtime {

struct Arena;
// Wakes the collector, which otherwise looks every 5 ms. The means is a new file name in the session's directory. Call
// with Process::lock held.
void wakeCollector(const Arena &) noexcept;

// Waits until the collector has read the memory, if --reach marks is set. Otherwise, or while another thread waits,
// this returns at once.
void waitAtMark() noexcept;

} // namespace msleaks::runtime
