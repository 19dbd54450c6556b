// The one place where the contract between compiler plugin, runtime and reader is numbered.
//
// kAbiVersion changes when a callback, the site table or a shared-memory layout changes in a way that an older
// counterpart would misread. A module compiled for another version is left unarmed and named in the session; it
// never runs into a callback that does not fit.
#pragma once

#include <cstdint>

namespace msleaks::abi {

inline constexpr uint16_t kAbiVersion = 1;

} // namespace msleaks::abi
