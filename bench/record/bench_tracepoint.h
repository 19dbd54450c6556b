// Defines the LTTng event that is compared with an event of msleaks. Its three fields (pointer, size, site) have as
// many bytes as those of the msleaks event. If this file had the name of a header in <lttng/>, LTTng would include that
// header when it creates probes.
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER msleaks_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./bench_tracepoint.h"
#if !defined(MSLEAKS_BENCH_TRACEPOINT_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define MSLEAKS_BENCH_TRACEPOINT_H
#include <lttng/tracepoint.h>
LTTNG_UST_TRACEPOINT_EVENT(msleaks_bench, alloc, LTTNG_UST_TP_ARGS(uint64_t, address, uint64_t, size, uint32_t, site),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(uint64_t, address, address)
                                                   lttng_ust_field_integer(uint64_t, size, size)
                                                       lttng_ust_field_integer(uint32_t, site, site)))
#endif
#include <lttng/tracepoint-event.h>
