// Reads the figure of a commit that a bisect follows.
#pragma once

#include "analysis/compare/run_comparison.h"

#include <cstdint>
#include <string>

namespace msleaks::analysis::inline compare {

// The figure that a bisect follows: `peak`, `leaks`, or `place FILE:LINE`.
struct BisectMetric {
  enum class Kind : uint8_t { Peak, Leaks, Place };
  Kind kind = Kind::Peak;
  std::string file; // file of a place: a whole path, or its end from a '/' on
  uint32_t line = 0;
};

// Parses "peak", "leaks", or "place FILE:LINE". The separator after `place` may also be a colon.
Result<BisectMetric> parseBisectMetric(const std::string &text);
std::string textOf(const BisectMetric &);

// Reads the figure from reports of any commit. Lines of a source move from commit to commit. So the asked place is
// looked up in the report of the bad commit, or else in the report of the good commit. This report is the reference. In
// another report, the comparison with the reference finds the place.
class BisectFigures {
public:
  // Keeps a copy of the report that has the place. An error: neither report has it.
  static Result<BisectFigures> of(const BisectMetric &, const Report &good, const Report &bad, StateAt at);

  uint64_t bytesOf(const Report &) const;

private:
  BisectFigures(const BisectMetric &metric, StateAt at) : metric_(metric), at_(at) {}
  bool isAsked(const SiteText &) const;
  // Returns the bytes of the place in `report`. None: `reference` does not have the place.
  std::optional<uint64_t> placeBytes(const Report &, const Report &reference) const;

  BisectMetric metric_;
  StateAt at_;
  std::optional<Report> reference_;
};

} // namespace msleaks::analysis::inline compare
