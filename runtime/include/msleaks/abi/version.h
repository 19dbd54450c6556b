// The versions of the interfaces between compiler plugin, runtime and reader. docs/abi.md describes the guarantees of
// each version.
#pragma once

#include <cstdint>

namespace msleaks::abi {

// The version of compiled objects: units, tables of sites, calls of callbacks. A runtime arms an object if the object's
// version is at least kOldestObjectVersion, and if the object needs no later runtime (Unit::needs). Otherwise the
// runtime writes a note and does not arm the object.
inline constexpr uint16_t kObjectVersion = 2;
inline constexpr uint16_t kOldestObjectVersion = 1;

// The version of a session's shared memory. Runtime and collector are installed together, so each accepts only its own
// version.
inline constexpr uint32_t kSessionVersion = 8;

// The version of a trace's definitions and events. A reader accepts its own version and all earlier versions.
inline constexpr uint16_t kTraceContentVersion = 2;

} // namespace msleaks::abi
