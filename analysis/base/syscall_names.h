// Names of system calls, for the processor that msleaks was built for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace msleaks::analysis::inline base {

// Returns "openat", or "syscall 999" for a number that the headers of the build do not know.
std::string syscallName(uint32_t number);
// Takes a name or a number. Returns nothing for an unknown name.
std::optional<uint32_t> syscallNumber(std::string_view name);

} // namespace msleaks::analysis::inline base
