// The description of a trace in the Common Trace Format 1.8: the layout of its events, and the texts of numbers.
#pragma once

#include "analysis/exporters/numbered.h"
#include "analysis/result/report.h"

#include <cstdint>
#include <ostream>
#include <string>

namespace msleaks::analysis::inline exporters {

inline constexpr uint32_t kCtfMagic = 0xc1fc1fc1;
inline constexpr size_t kCtfHeaderBytes = 2 * sizeof(uint32_t) + 5 * sizeof(uint64_t); // of a packet
// Ids of events that no process records. Other events have the number of their kind.
inline constexpr uint16_t kCtfBlockBegin = 1000, kCtfBlockEnd = 1001;

// A number in an event is the place of its text here + 1, and 0 = not known.
void writeCtfMetadata(std::ostream &, const Report &, const Numbered<std::string> &places,
                      const Numbered<std::string> &texts);

} // namespace msleaks::analysis::inline exporters
