// A second run (`msleaks verify`) records nothing. Instead, the runtime tells its tracer the program's watches and
// ranges (msleaks/abi/guarded.h).
#pragma once

#include "msleaks/abi/guarded.h"

namespace msleaks::runtime {

// Whether there is a tracer. Functions of the API ask this before they record. A fork's child is traced, too.
extern bool tracer_listens;
[[gnu::always_inline]] inline bool hasTracer() noexcept { return __atomic_load_n(&tracer_listens, __ATOMIC_RELAXED); }

// errno stays.
[[gnu::cold]] void tellTracer(abi::GuardCall, uint64_t first = 0, uint64_t second = 0, uint64_t third = 0) noexcept;
[[gnu::cold]] void tellTracer(abi::GuardCall, const char *text) noexcept;

} // namespace msleaks::runtime
