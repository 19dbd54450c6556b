// A process that exits, or sets a mark, waits until the collector has read its memory for pointers to blocks.
#pragma once

namespace msleaks::runtime {

struct Arena;
// A new name in the session's directory wakes the collector, which otherwise looks every 5 ms. Call with Process::lock
// held.
void wakeCollector(const Arena &) noexcept;

// Waits with --reach marks. Otherwise, or while another thread waits, it returns at once.
void waitAtMark() noexcept;

} // namespace msleaks::runtime
