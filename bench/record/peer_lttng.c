// Records the same event as record.cpp by a tracepoint of LTTng-UST, for comparison.
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include <stdint.h>

#include "bench_tracepoint.h"

void peerRecord(uint64_t address, uint64_t size, uint32_t site) {
  lttng_ust_tracepoint(msleaks_bench, alloc, address, size, site);
}
