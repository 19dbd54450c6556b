// Decides whether there may be idle processors that the program does not need.
#pragma once

namespace msleaks::driver {

// Returns false if msleaks-run may use only one processor, or if a control group limits its processor time. In both
// cases, work of msleaks-run would slow the program down, even at idle priority.
bool mayUseIdleProcessors();

} // namespace msleaks::driver
