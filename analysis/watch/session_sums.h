// The live blocks of a session by place, of which a frame is made. `msleaks top` computes them from the trace, or gets
// them from msleaks-run, which knows them anyway (SumsPublisher, SumsWatcher).
#pragma once

#include "analysis/live/cohort_sums.h"
#include "analysis/live/timeline.h"
#include "analysis/places/site_catalog.h"
#include "analysis/report/running_report.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace msleaks::analysis::inline watch {

// Blocks of a site, of one process and heap.
struct PlaceSum {
  SiteId site;
  uint32_t process = 0;
  abi::Heap heap = abi::Heap::Host;
  BlockSum now, at_moment, at_peak; // at the moment that growth counts from
};

struct SessionSums {
  uint64_t events = 0, reached_ns = 0; // CLOCK_MONOTONIC, of what all this is
  BlockSum alive;                      // of the physical heaps
  uint64_t peak_bytes = 0, peak_time_ns = 0;
  uint64_t steps = 0;
  std::optional<Timeline::Step> step; // that began last
  std::vector<PlaceSum> sums;         // of all heaps; pools' have nothing at the peak
};

SessionSums sumsOf(const RunningReport &);

// As bytes, for a reader of the same trace and of the same version; without what is at the moment. Nothing when a site
// has no number.
std::optional<std::vector<uint8_t>> encode(const SessionSums &, const SiteCatalog &);
// Nothing for what encode() has not written. Sites that the catalog does not know yet are unknown.
std::optional<SessionSums> decodeSums(std::span<const uint8_t>, SiteCatalog &);

} // namespace msleaks::analysis::inline watch
