// Finds the line of an instruction in the table that CPython keeps for each code object.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace msleaks::analysis::inline importers {

// `python`: the version as in PY_VERSION_HEX. `instruction`: the number of the instruction's byte, or of its word in
// Python 3.10. Returns nothing if the table is damaged or has no line for the instruction.
std::optional<uint32_t> lineOfInstruction(uint32_t python, std::string_view table, uint64_t instruction,
                                          int64_t first_line);

} // namespace msleaks::analysis::inline importers
