// Compares two results. Says which places have more or fewer bytes, and which places are new, gone or moved
// (docs/compare.md).
#pragma once

#include "analysis/compare/launch_difference.h"
#include "analysis/result/report.h"
#include "analysis/result/result.h"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace msleaks::analysis::inline compare {

enum class PlaceState : uint8_t {
  Same,
  Grown,
  Shrunk,
  New,    // the place is only in the second run
  Gone,   // the place is only in the first run
  Moved,  // the place has the same blocks, but another file, function or line
  Varies, // runs of one side differ by at least as much as the two sides
};
inline constexpr size_t kPlaceStates = 7;
const char *nameOf(PlaceState);

inline constexpr size_t kMostCallers = 1000;

// Returns the size of a change, without its sign.
constexpr uint64_t sizeOf(int64_t change) {
  return change < 0 ? -static_cast<uint64_t>(change) : static_cast<uint64_t>(change);
}
std::string changeText(int64_t change_bytes); // a text like "+400 MiB"

// The blocks of a place in both runs. In a library that is not the user's own, all places of one function are one
// place.
struct ComparedPlace {
  SiteText site; // the site in the second run; if the place is gone, the site in the first run
  bool own = false;
  std::string variable, type;
  std::optional<BlockSum> before, after;
  PlaceState state = PlaceState::Same;
  std::optional<FrameText> caller; // the caller whose calls changed; only for the kMostCallers largest changes
  uint64_t spread_bytes = 0;       // how much runs of one side differ

  // Returns 0 if the place varies.
  int64_t changeBytes() const;
  // Returns the site. If the site has no variable or type, it gets the variable or type of this place.
  SiteText wholeSite() const;
};

struct EnvironmentChange {
  std::string name; // like "command", "exit", "host"
  std::string before, after;
};

// The moment at which blocks are compared.
enum class StateAt : uint8_t {
  Peak,
  End, // the end of each process, or of the recording
  Cut, // the moment for which both reports were made
};

// A part of the memory that is compared: the blocks at a moment, or the leaked blocks.
struct ComparedMemory {
  uint64_t before_bytes = 0, after_bytes = 0;
  std::vector<ComparedPlace> places; // the largest change first
  uint64_t spread_bytes = 0;         // how much the bytes differ between runs of one side

  // Returns 0 if runs of one side differ by at least as much.
  int64_t changeBytes() const;
  bool differs() const;
};

// A finding of only one run.
struct FindingChange {
  Finding finding;
  PlaceState state = PlaceState::New; // New or Gone
};

struct RunComparison {
  std::string first, second; // the runs in the user's words
  std::vector<EnvironmentChange> environment;
  uint64_t peak_before_bytes = 0, peak_after_bytes = 0;
  std::string at = "peak";                   // the moment in the user's words
  ComparedMemory alive;                      // blocks at this moment
  ComparedMemory leaks;                      // empty for StateAt::Cut
  ComparedMemory pool_leaks;                 // leaked parts of pools, which lie inside other blocks
  ComparedMemory allocated;                  // all allocations, by places with a source file; differs() ignores them
  std::optional<LaunchDifferences> launches; // none: a result file, which has no launches
  std::vector<FindingChange> findings;
  size_t first_runs = 1, second_runs = 1; // with several runs, the figures are means
  uint64_t peak_spread_bytes = 0;         // how much the peaks of one side differ

  // Whether the memory differs. Moved places are no difference. Neither is another environment if the memory is the
  // same.
  bool differs() const;
};

// Returns the change, or 0 if runs of one side differ by at least as much.
int64_t changeBeyond(uint64_t spread_bytes, uint64_t before, uint64_t after);

RunComparison compareRuns(const Report &first, const Report &second, StateAt at = StateAt::Peak);

// Says in one or two sentences how much more or less memory the second run needs, and which places need it.
std::string sentenceOf(const RunComparison &);
nlohmann::ordered_json comparisonJson(const RunComparison &, const NameTable &names);
void writeComparisonJson(std::ostream &, const RunComparison &, const NameTable &names);
// `is_whole` writes all changed places as trees (place_tree.h), all facts and all findings.
void writeComparisonText(std::ostream &, const RunComparison &, size_t columns, bool is_whole = false);

} // namespace msleaks::analysis::inline compare
