// The verdict on a run: its figures compared with limits and a baseline. Also writes the verdict for people and
// programs (docs/check.md).
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

// A number and its limit.
struct LimitGate {
  std::string name; // "peak", "leaks", "pool-leaks", "places"
  bool in_bytes = true;
  std::optional<uint64_t> baseline;
  uint64_t now = 0;
  std::optional<uint64_t> most;
  std::string rule; // the kind of the limit: "at most", "more", "+2%", "none new"; empty: no such limit
  GateResult judgement = GateResult::NotJudged;
};

// A place whose bytes differ from the baseline. A new place has 0 bytes in the baseline.
struct PlaceChange {
  PlaceFigures place; // the place of this run; if it is gone, the place of the baseline
  uint64_t before_bytes = 0, now_bytes = 0;
};

struct Verdict {
  std::vector<std::string> command;
  bool has_baseline = false;
  std::vector<LimitGate> gates;
  GateResult recording = GateResult::Passed; // whether the recordings are complete
  std::vector<std::string> gaps, baseline_gaps;
  std::vector<PlaceFigures> leaking_places;
  std::vector<PlaceFigures> new_places, gone_places; // they leak only now; they leaked only in the baseline
  std::vector<PlaceChange> grown_leaks;              // places that already leaked in the baseline
  std::vector<PlaceChange> peak_changes;             // the largest changes, largest first
  std::vector<std::string> notes;

  bool passed() const;
};

// Fails if the baseline is of another program, or if a limit needs a baseline but there is none.
Result<Verdict> judge(const RunFigures &now, const std::optional<RunFigures> &baseline, const Limits &);

void writeVerdictMarkdown(std::ostream &, const Verdict &);
void writeVerdictJson(std::ostream &, const Verdict &);
// Writes a test case for each limit, in the format of JUnit.
void writeVerdictJunit(std::ostream &, const Verdict &);

} // namespace msleaks::analysis::inline compare
