#include "analysis/page/pictures_data.h"

#include "analysis/page/page_tables.h"
#include "analysis/text/site_text.h"

#include <fmt/format.h>

namespace msleaks::analysis::inline page {
namespace {

// The part, and the bytes and blocks that were born, that were freed, and that came or went in another way.
Json changesOf(const Turnover::Line &line) {
  Json changes = Json::array();
  for (const Turnover::Change &change : line.changes)
    changes.push_back({change.part, change.born.bytes, change.born.count, change.freed.bytes, change.freed.count,
                       change.other.bytes, change.other.count});
  return changes;
}

Json textOfPlace(const std::shared_ptr<const SiteText> &place) {
  return place ? Json(placeAndNameOf(*place, kPlaceColumns)) : Json();
}

Json launchesOf(const Turnover::Launches &launches) {
  Json counts = Json::array();
  for (const auto &[part, count] : launches.counts)
    counts.push_back(Json::array({part, count}));
  return {{"kernel", launches.kernel}, {"others", launches.others}, {"counts", std::move(counts)}};
}

Json segmentOf(const SegmentMap &segment) {
  Json runs = Json::array();
  for (const SegmentMap::Run &run : segment.runs)
    runs.push_back({run.cells, run.used_bytes, run.place});
  return {{"heap", abi::nameOf(segment.heap)},
          {"device", segment.device},
          {"pid", segment.pid},
          {"address", fmt::format("{:#x}", segment.address)}, // a script's numbers are too small
          {"bytes", segment.bytes},
          {"used_bytes", segment.used_bytes},
          {"place", segment.place},
          {"runs", std::move(runs)}};
}

} // namespace

Json turnoverData(const Turnover &turnover) {
  Json lines = Json::array();
  for (const Turnover::Line &line : turnover.lines)
    lines.push_back({{"place", textOfPlace(line.place)},
                     {"before", Json::array({line.before.bytes, line.before.count})},
                     {"changes", changesOf(line)}});
  Json launches = Json::array();
  for (const Turnover::Launches &of_kernel : turnover.launches)
    launches.push_back(launchesOf(of_kernel));
  return {{"edges", turnover.edges}, {"lines", std::move(lines)}, {"launches", std::move(launches)}};
}

Json poolsData(const SegmentMaps &maps) {
  Json places = Json::array(), segments = Json::array();
  for (const auto &place : maps.places)
    places.push_back(textOfPlace(place));
  for (const SegmentMap &segment : maps.segments)
    segments.push_back(segmentOf(segment));
  return {{"places", std::move(places)}, {"segments", std::move(segments)}, {"segments_in_all", maps.segments_in_all}};
}

} // namespace msleaks::analysis::inline page
