// Reads from a unit's table which of its places are foreign (abi::SiteRow::flags).
#pragma once

#include "msleaks/runtime/foreign_sites.h"

namespace msleaks::runtime {

// The rows of the table have the numbers from `base` on. With Process::lock held.
void markForeign(const abi::UnitHeader &table, uint32_t base) noexcept;

} // namespace msleaks::runtime
