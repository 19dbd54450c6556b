// Converts records of the kernel to events of the trace (events.def).
#pragma once

#include "kernel/records.h"
#include "msleaks/abi/events.h"

#include <cstddef>
#include <vector>

namespace msleaks::kernel {

// Appends the events of a record. Appends nothing for a record of an unknown kind or size.
void appendEvents(const RecordHead &, size_t bytes, std::vector<abi::Slot> &);

} // namespace msleaks::kernel
