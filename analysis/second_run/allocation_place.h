// Whether an allocation of the second run is one of a finding's place.
#pragma once

#include "analysis/result/result.h"

#include <span>
#include <string>
#include <vector>

namespace msleaks::analysis::inline second_run {

// A line of a call's own function, or of one that was inlined there.
struct CallLine {
  std::string file; // without folders; empty: not known, then the image and the offset count
  uint32_t line = 0;
  std::string library;
  uint64_t offset = 0;
  bool system = false; // the image, or the file, is a distribution's
  bool operator==(const CallLine &) const;
};

// Innermost first.
std::vector<CallLine> linesOf(std::span<const SiteText> calls);

// The calls that led to a finding's blocks, from the allocator's caller to the finding's place.
class AllocationPlace {
public:
  explicit AllocationPlace(const SiteLine &finding);

  // `calls`: the allocator's callers, innermost first.
  bool holds(std::span<const SiteText> calls) const;
  // Callers that have to be known for holds().
  size_t depth() const { return depth_; }

private:
  std::vector<std::vector<CallLine>> paths_;
  size_t depth_ = 0;
};

// Of the calls, the first in the user's own code; else the first of all. Behind the end: there are none.
size_t ownCallOf(std::span<const SiteText> calls);

} // namespace msleaks::analysis::inline second_run
