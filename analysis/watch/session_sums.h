// The sums of a session's live blocks, from which a frame is made. `msleaks top` computes them from the trace, or gets
// them from msleaks-run, which computes them for its report (SumsPublisher, SumsWatcher).
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

// Sums of the blocks with one site, process and heap.
struct PlaceSum {
  SiteId site;
  uint32_t process = 0;
  abi::Heap heap = abi::Heap::Host;
  BlockSum now, at_moment, at_peak; // at_moment: at the moment from which growth counts
};

struct SessionSums {
  uint64_t events = 0, reached_ns = 0; // reached_ns: CLOCK_MONOTONIC, the time of these sums
  BlockSum alive;                      // sum of the physical heaps
  uint64_t peak_bytes = 0, peak_time_ns = 0;
  uint64_t steps = 0;
  std::optional<Timeline::Step> step; // the step that began last
  std::vector<PlaceSum> sums;         // of all heaps; at_peak is 0 for pools
};

SessionSums sumsOf(const RunningReport &);

// Encodes the sums, except at_moment, for a reader of the same trace and the same version of msleaks. Nothing: a site
// has no number.
std::optional<std::vector<uint8_t>> encode(const SessionSums &, const SiteCatalog &);
// Decodes the sums. Nothing: encode() has not written these bytes. Sites that are not in the catalog yet become
// unknown.
std::optional<SessionSums> decodeSums(std::span<const uint8_t>, SiteCatalog &);

} // namespace msleaks::analysis::inline watch
