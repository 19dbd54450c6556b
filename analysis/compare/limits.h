// Parses the limits of `msleaks check`: how much memory a run may need.
#pragma once

#include "analysis/base/result.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

namespace msleaks::analysis::inline compare {

struct MorePercent {
  double percent = 0;
};
struct MoreBytes {
  uint64_t bytes = 0;
};
struct AtMostBytes {
  uint64_t bytes = 0;
};
using PeakLimit = std::variant<AtMostBytes, MoreBytes, MorePercent>;

struct Limits {
  std::optional<PeakLimit> peak = {};
  std::optional<uint64_t> leak_bytes = {};
  bool new_places = false;         // no place may leak that did not leak before
  bool incomplete_allowed = false; // figures are judged even if they may be too low
};

// Parses a text like "512MiB", "+10MiB" or "+2%".
Result<PeakLimit> parsePeakLimit(std::string_view text);
// Fails if a limit needs a baseline, but there is none.
Result<void> checkBaseline(const Limits &, bool has_baseline);
// Returns the largest number of bytes that a peak may have.
uint64_t mostBytes(const PeakLimit &, uint64_t baseline_bytes);

} // namespace msleaks::analysis::inline compare
