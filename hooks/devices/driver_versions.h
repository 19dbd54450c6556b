// Writes a note for each driver in the process that is newer than the versions that the hooks know
// (driver_versions.def).
#pragma once

#include "msleaks/abi/symbol.h"

namespace msleaks::hooks {

void noteUnknownVersions(abi::Family family) noexcept;
template <abi::Family kFamily> void noteUnknownVersions() { noteUnknownVersions(kFamily); }

} // namespace msleaks::hooks
