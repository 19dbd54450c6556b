// Reads from a unit's table which of its sites are foreign (abi::SiteRow::flags).
#pragma once

#include "msleaks/runtime/foreign_sites.h"

namespace msleaks::runtime {

// Marks the foreign sites of a table whose rows have the numbers from `base` on. Call with Process::lock held.
void markForeign(const abi::UnitHeader &table, uint32_t base) noexcept;

} // namespace msleaks::runtime
