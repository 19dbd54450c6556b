// A process that exits, or sets a mark, waits until the collector has read who points to what.
#pragma once

namespace msleaks::runtime {

struct Arena;
// A new name in the session's directory wakes the collector; it would look by itself in 5 ms. With Process::lock held.
void wakeCollector(const Arena &) noexcept;

// With --reach marks; otherwise it returns at once, and so it does while another thread waits.
void waitAtMark() noexcept;

} // namespace msleaks::runtime
