// A run held against limits and a baseline, as a value, and its forms for people and programs (docs/check.md).
#pragma once

#include "analysis/compare/figures.h"
#include "analysis/compare/limits.h"

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace msleaks::analysis::inline compare {

enum class GateResult : uint8_t { NotJudged, Passed, Failed };
const char *nameOf(GateResult);

// A number with its limit.
struct LimitGate {
  std::string name; // "peak", "leaks", "pool-leaks", "places"
  bool in_bytes = true;
  std::optional<uint64_t> baseline;
  uint64_t now = 0;
  std::optional<uint64_t> most;
  std::string rule; // the limit as the user said it
  GateResult judgement = GateResult::NotJudged;
};

// A place whose bytes are not those of the baseline; none there: it is new.
struct PlaceChange {
  PlaceFigures place; // as it is now; what is gone: as it was
  uint64_t before_bytes = 0, now_bytes = 0;
};

struct Verdict {
  std::vector<std::string> command;
  bool has_baseline = false;
  std::vector<LimitGate> gates;
  GateResult recording = GateResult::Passed; // whether the figures are those of the whole program
  std::vector<std::string> gaps, baseline_gaps;
  std::vector<PlaceFigures> leaking_places;
  std::vector<PlaceFigures> new_places, gone_places; // that leak, or no longer do; most bytes first
  std::vector<PlaceChange> grown_leaks;              // of places that leaked before
  std::vector<PlaceChange> peak_changes;             // largest change first, as many as are worth a look
  std::vector<std::string> notes;

  bool passed() const;
};

// An error when the baseline is of another program, or a limit needs one and there is none.
Result<Verdict> judge(const RunFigures &now, const std::optional<RunFigures> &baseline, const Limits &);

void writeVerdictMarkdown(std::ostream &, const Verdict &);
void writeVerdictJson(std::ostream &, const Verdict &);

} // namespace msleaks::analysis::inline compare
