// The peak of a changed program. The user names the changes and the places of the blocks (docs/analyses.md).
#pragma once

#include "analysis/places/site_text.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace msleaks::analysis::inline result {

struct Change {
  enum class Kind : uint8_t { FreeAtLastUse, AllocAtFirstUse, Drop, Share };
  Kind kind = Kind::Drop;
  std::string site;       // place of the changed blocks
  std::string other = {}; // Share: the blocks of this place use the same memory
};

// Whether "train.cpp:203", "src/train.cpp:203:12", "net::grow" or the name of a variable means this place.
bool isNamed(const SiteText &, const std::string &by);

struct WhatIf {
  struct Point {
    uint64_t time_ns = 0; // CLOCK_MONOTONIC
    uint64_t bytes = 0, new_bytes = 0;
  };
  uint64_t peak_bytes = 0, new_peak_bytes = 0;
  std::optional<uint64_t> floor_bytes; // the floor of the unchanged program
  std::vector<Point> curve;            // the highest point in each of at most kMostPoints parts of the run
  // Why the new peak is not known; empty: it is known.
  std::string failure;

  static constexpr size_t kMostPoints = 200;
};

} // namespace msleaks::analysis::inline result
