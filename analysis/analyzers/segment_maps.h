// Draws the segments of pools at the peak of their heap (result/pictures.h).
#pragma once

#include "analysis/analyzers/segment_cells.h"
#include "analysis/findings/conclusion.h"
#include "analysis/live/account.h"
#include "analysis/places/place.h"
#include "analysis/result/pictures.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline analyzers {

// A segment at the peak of its account.
struct DrawnSegment {
  Account account;
  CohortId cohort; // of the segment
  uint64_t address = 0, bytes = 0, used_bytes = 0;
  const std::vector<CellRun> *cells = nullptr;
};

class SegmentMapsBuilder {
public:
  explicit SegmentMapsBuilder(Conclusion &conclusion) : conclusion_(conclusion) {}

  void add(const DrawnSegment &segment) { segments_.push_back(segment); }
  // Adds the largest segments to the conclusion's pictures.
  void finish() {
    SegmentMaps maps;
    maps.segments_in_all = segments_.size();
    std::ranges::stable_sort(segments_, std::greater(), &DrawnSegment::bytes);
    segments_.resize(std::min(segments_.size(), SegmentMap::kMostSegments));
    std::ranges::stable_sort(segments_, {}, [&](const DrawnSegment &segment) {
      return std::tuple(segment.account.heap, segment.account.device, processOf(segment), segment.address);
    });
    for (const DrawnSegment &segment : segments_)
      maps.segments.push_back(mapOf(segment, maps));
    Pictures pictures = conclusion_.result.pictures ? *conclusion_.result.pictures : Pictures{};
    pictures.pools = std::move(maps);
    conclusion_.result.pictures = std::make_shared<const Pictures>(std::move(pictures));
  }

private:
  uint32_t processOf(const DrawnSegment &segment) const { return conclusion_.cohorts[segment.cohort].process; }
  uint32_t pidOf(uint32_t number) const {
    const auto found = std::ranges::find(conclusion_.processes, number, &ReportProcess::process);
    return found == conclusion_.processes.end() ? 0 : found->pid;
  }
  SegmentMap mapOf(const DrawnSegment &segment, SegmentMaps &maps) {
    SegmentMap map{.heap = segment.account.heap,
                   .device = segment.account.device,
                   .pid = pidOf(processOf(segment)),
                   .address = segment.address,
                   .bytes = segment.bytes,
                   .used_bytes = segment.used_bytes,
                   .place = placeOf(segment.cohort, maps),
                   .runs = {}};
    for (const CellRun &run : *segment.cells)
      map.runs.push_back({run.cells, run.used_bytes, run.used_bytes == 0 ? 0 : placeOf(run.cohort, maps)});
    return map;
  }
  uint32_t placeOf(CohortId cohort, SegmentMaps &maps) {
    const Place place = conclusion_.lines.places().of(conclusion_.cohorts[cohort].site);
    const auto [at, is_new] =
        numbers_.try_emplace(place.keyIn(conclusion_.catalog), static_cast<uint32_t>(maps.places.size()));
    if (is_new)
      maps.places.push_back(std::make_shared<const SiteText>(textOf(conclusion_.catalog, place)));
    return at->second;
  }

  Conclusion &conclusion_;
  std::vector<DrawnSegment> segments_;
  std::map<Place::Key, uint32_t> numbers_;
};

} // namespace msleaks::analysis::inline analyzers
