// Says by a note which driver in the process is newer than what the hooks were written for (driver_versions.def).
#pragma once

#include "msleaks/abi/symbols.h"

namespace msleaks::hooks {

void noteUnknownVersions(abi::Family family) noexcept;
template <abi::Family kFamily> void noteUnknownVersions() { noteUnknownVersions(kFamily); }

} // namespace msleaks::hooks
