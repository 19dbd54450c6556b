// The numbers of the contracts between compiler plugin, runtime and reader. docs/abi.md says what each promises.
#pragma once

#include <cstdint>

namespace msleaks::abi {

// What a compiled object holds: units, tables of sites, calls of callbacks. A runtime takes every object from
// kOldestObjectVersion on that does not need a later runtime (Unit::needs); it leaves others unarmed and says so.
inline constexpr uint16_t kObjectVersion = 2;
inline constexpr uint16_t kOldestObjectVersion = 1;

// Shared memory of a session. Runtime and collector are installed together: each takes its own version only.
inline constexpr uint32_t kSessionVersion = 6;

// What the definitions and events of a trace mean. A reader takes its own version and all before it.
inline constexpr uint16_t kTraceContentVersion = 2;

} // namespace msleaks::abi
