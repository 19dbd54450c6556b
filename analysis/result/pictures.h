// Only the page of a report draws these pictures. Their sizes are bounded, so a page does not grow with its run.
#pragma once

#include "analysis/places/site_text.h"
#include "msleaks/abi/events.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline result {

// The blocks of physical heaps that began and ended in each part of the run, by place. All parts are equally long, but
// the last one may be shorter. An event at exactly the begin of a part belongs to this part.
struct Turnover {
  static constexpr size_t kMostParts = 256, kMostPlaces = 80, kMostKernels = 20;

  // Sums that may be negative: a failed realloc takes back a free.
  struct Sum {
    int64_t bytes = 0, count = 0;
    Sum &operator+=(const Sum &other) {
      bytes += other.bytes;
      count += other.count;
      return *this;
    }
    bool operator==(const Sum &) const = default;
  };
  struct Change {
    uint32_t part = 0;
    Sum born, freed;
    Sum other; // ends of processes are negative; parts of mappings that came or went
    bool operator==(const Change &) const = default;
  };
  struct Line {
    std::shared_ptr<const SiteText> place; // null: all other places
    Sum before;                            // alive at the begin of the first part
    std::vector<Change> changes;           // ascending by part
  };
  // How often a kernel was launched in each part.
  struct Launches {
    std::string kernel; // empty: its name is not known
    bool others = false;
    std::vector<std::pair<uint32_t, uint64_t>> counts; // ascending by part
  };

  std::vector<uint64_t> edges; // begins of the parts, and the end of the last one: ns since the start
  std::vector<Line> lines;     // the place with the most bytes first
  std::vector<Launches> launches;
};

// The memory of a pool's segment at the peak of its heap, from its begin to its end, in equal cells.
struct SegmentMap {
  static constexpr size_t kCells = 256, kMostSegments = 60;

  // Neighbours that look the same are one run.
  struct Run {
    uint32_t cells = 0;
    uint64_t used_bytes = 0; // in all of them
    uint32_t place = 0;      // number in SegmentMaps::places: it has most of these bytes. 0 if nothing is used
  };
  abi::Heap heap = abi::Heap::Host;
  uint8_t device = 0;
  uint32_t pid = 0;
  uint64_t address = 0, bytes = 0, used_bytes = 0;
  uint32_t place = 0; // it allocated the segment
  std::vector<Run> runs;
};

struct SegmentMaps {
  std::vector<std::shared_ptr<const SiteText>> places;
  std::vector<SegmentMap> segments; // ascending by heap, device, process and address
  size_t segments_in_all = 0;
};

struct Pictures {
  Turnover turnover;
  SegmentMaps pools;
};

} // namespace msleaks::analysis::inline result
