// The memory in use over time, and in each step. It is small enough to be stored with the run, so it can be drawn later
// without the events (docs/formats.md, "The series of a run").
#pragma once

#include "analysis/base/result.h"

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace msleaks::analysis::inline result {

inline constexpr uint32_t kSeriesVersion = 1;

struct Series {
  static constexpr size_t kMostMoments = 2000;
  static constexpr size_t kMostCurves = 20; // of accounts, of owners and of types; sums of others are extra
  static constexpr size_t kMostSteps = 2000;
  static constexpr size_t kMostFindings = 10; // that have a curve

  struct Curve {
    std::string by;                  // "total", "account", "owner", "type" or "finding"
    std::optional<std::string> name; // an owner, a type, or the id of a finding; none = not known
    bool others = false;             // the sum of all that have no curve of their own
    std::optional<std::string> heap; // for an account
    std::optional<uint8_t> device;   // for an account on a device
    uint64_t peak_bytes = 0;
    std::vector<uint64_t> bytes; // at each moment
    bool operator==(const Curve &) const = default;
  };
  struct Step { // or several consecutive steps
    uint32_t process = 0, pid = 0;
    uint64_t first = 0, last = 0, steps = 0;
    uint64_t begin_ns = 0, end_ns = 0;
    uint64_t peak_bytes = 0, end_bytes = 0;
    uint64_t launches = 0;
    bool operator==(const Step &) const = default;
  };

  uint32_t version = kSeriesVersion;
  uint64_t error_bytes = 0;      // the peak of an owner or a type may be higher by this
  std::vector<uint64_t> moments; // ns since the session's start, ascending; times of steps, too
  std::vector<Curve> curves;     // the largest peak of each kind first
  std::vector<Step> steps;       // ascending by their start
  uint64_t steps_left_out = 0;
  bool operator==(const Series &) const = default;
};

void writeSeriesJson(std::ostream &, const Series &);
// Reads a text that writeSeriesJson() wrote. `where` names the text in the error.
Result<Series> parseSeries(std::string_view text, const std::string &where);

} // namespace msleaks::analysis::inline result
