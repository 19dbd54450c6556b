// Reports the program's watches and ranges to a tracer (msleaks/abi/guarded.h). There is a tracer in the second run of
// `msleaks verify`, in which nothing is recorded.
#pragma once

#include "msleaks/abi/guarded.h"

namespace msleaks::runtime {

// Whether there is a tracer. The functions of msleaks/api.h for steps, pushed ranges and watches check this before they
// record. A fork's child is traced, too.
extern bool tracer_listens;
[[gnu::always_inline]] inline bool hasTracer() noexcept { return __atomic_load_n(&tracer_listens, __ATOMIC_RELAXED); }

// These functions report to the tracer. They do not change errno.
[[gnu::cold]] void tellTracer(abi::GuardCall, uint64_t first = 0, uint64_t second = 0, uint64_t third = 0) noexcept;
[[gnu::cold]] void tellTracer(abi::GuardCall, const char *text) noexcept;

} // namespace msleaks::runtime
