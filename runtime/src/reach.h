// A process that exits, or sets a mark, waits until the collector has read who points to what.
#pragma once

namespace msleaks::runtime {

// With --reach marks; otherwise it returns at once, and so it does while another thread waits.
void waitAtMark() noexcept;

} // namespace msleaks::runtime
