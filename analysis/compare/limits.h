// How much a run may have: the words of `msleaks check`, understood.
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
  bool new_places = false;         // none may leak that did not before
  bool incomplete_allowed = false; // figures are judged although they may be too low
};

// "512MiB", "+10MiB", "+2%".
Result<PeakLimit> parsePeakLimit(std::string_view text);
// An error when a limit needs a baseline, and there is none.
Result<void> checkBaseline(const Limits &, bool has_baseline);
// The most bytes that a peak may have.
uint64_t mostBytes(const PeakLimit &, uint64_t baseline_bytes);

} // namespace msleaks::analysis::inline compare
