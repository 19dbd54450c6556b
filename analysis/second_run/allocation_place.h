// Tells whether an allocation of the second run belongs to the place of a finding.
#pragma once

#include "analysis/result/result.h"

#include <span>
#include <string>
#include <vector>

namespace msleaks::analysis::inline second_run {

// A line of a call: of the called function itself, or of a function that was inlined into it.
struct CallLine {
  std::string file; // name without folders; empty: not known, then library and offset identify the call
  uint32_t line = 0;
  std::string library;
  uint64_t offset = 0;
  bool system = false; // the library or the file belongs to the distribution
  bool operator==(const CallLine &) const;
};

// Returns the lines of the calls, innermost first.
std::vector<CallLine> linesOf(std::span<const SiteText> calls);

// The calls that led to a finding's blocks. They begin with the allocator's caller and end with the finding's place.
class AllocationPlace {
public:
  explicit AllocationPlace(const SiteLine &finding);

  // Whether these calls lead to the place. `calls` are the allocator's callers, innermost first.
  bool holds(std::span<const SiteText> calls) const;
  // Returns the number of callers that holds() needs.
  size_t depth() const { return depth_; }

private:
  std::vector<std::vector<CallLine>> paths_;
  size_t depth_ = 0;
};

// Returns the index of the first call in the user's own code. Without such a call, returns 0, even if there are no
// calls.
size_t ownCallOf(std::span<const SiteText> calls);

} // namespace msleaks::analysis::inline second_run
