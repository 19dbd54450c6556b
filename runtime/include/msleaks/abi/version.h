// The numbers of the contracts between compiler plugin, runtime and reader. docs/abi.md says what each number promises.
#pragma once

#include <cstdint>

namespace msleaks::abi {

// The version of compiled objects: units, tables of sites, calls of callbacks. A runtime takes every object from
// kOldestObjectVersion on that does not need a later runtime (Unit::needs). It leaves others unarmed and writes a note.
inline constexpr uint16_t kObjectVersion = 2;
inline constexpr uint16_t kOldestObjectVersion = 1;

// The version of a session's shared memory. Runtime and collector are installed together: each takes its own version
// only.
inline constexpr uint32_t kSessionVersion = 6;

// The version of a trace's definitions and events. A reader takes its own version and all versions before it.
inline constexpr uint16_t kTraceContentVersion = 2;

} // namespace msleaks::abi
