// Whether there may be processors that the program does not want.
#pragma once

namespace msleaks::driver {

// False where there is but one, and where a control group rations processor time: what we take is then the program's
// loss, however idle we are.
bool mayUseIdleProcessors();

} // namespace msleaks::driver
