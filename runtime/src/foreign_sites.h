// Reads from a unit's table which sites are foreign (abi::SiteRow::flags): no line of a foreign site is the user's own.
#pragma once

#include "msleaks/runtime/foreign_sites.h"

namespace msleaks::runtime {

// Marks the foreign sites of a table. The first row has the site number `base`. Call with Process::lock held.
void markForeign(const abi::UnitHeader &table, uint32_t base) noexcept;

} // namespace msleaks::runtime
