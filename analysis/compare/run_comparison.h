// Two results side by side: which places have more or fewer bytes, which are new, gone or moved (docs/compare.md).
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
  New,    // only in the second run
  Gone,   // only in the first one
  Moved,  // the same blocks, in a file, function or line of another name or number
  Varies, // runs of one side differ by as much as both sides
};
inline constexpr size_t kPlaceStates = 7;
const char *nameOf(PlaceState);

inline constexpr size_t kMostCallers = 1000;

// The size of a change, without its sign.
constexpr uint64_t sizeOf(int64_t change) {
  return change < 0 ? -static_cast<uint64_t>(change) : static_cast<uint64_t>(change);
}
std::string changeText(int64_t change_bytes); // "+400 MiB"

// The blocks of a place in both runs. All places of one function of a library that is not the user's own are one.
struct ComparedPlace {
  SiteText site; // in the second run; of a place that is gone, in the first one
  bool own = false;
  std::string variable, type;
  std::optional<BlockSum> before, after;
  PlaceState state = PlaceState::Same;
  std::optional<FrameText> caller; // whose calls changed; of the kMostCallers largest changes
  uint64_t spread_bytes = 0;       // by how much runs of one side differ

  // 0 if the place varies.
  int64_t changeBytes() const;
  // The site with the variable and type of the place, where it has none of its own.
  SiteText wholeSite() const;
};

struct EnvironmentChange {
  std::string name; // "command", "exit", "host", …
  std::string before, after;
};

// The moment whose blocks are compared.
enum class StateAt : uint8_t {
  Peak,
  End, // what was alive when the processes ended, or the recording
  Cut, // the moment of both reports
};

// The part of the memory that is compared: the blocks at a moment, or those that leaked.
struct ComparedMemory {
  uint64_t before_bytes = 0, after_bytes = 0;
  std::vector<ComparedPlace> places; // largest change first
  uint64_t spread_bytes = 0;         // by how much the bytes differ between runs of one side

  // 0 if runs of one side differ by as much.
  int64_t changeBytes() const;
  bool differs() const;
};

// A finding that only one of the runs has.
struct FindingChange {
  Finding finding;
  PlaceState state = PlaceState::New; // or Gone
};

struct RunComparison {
  std::string first, second; // as the user named the runs
  std::vector<EnvironmentChange> environment;
  uint64_t peak_before_bytes = 0, peak_after_bytes = 0;
  std::string at = "peak";                   // the moment, as the user named it
  ComparedMemory alive;                      // at this moment
  ComparedMemory leaks;                      // none at a moment
  ComparedMemory pool_leaks;                 // parts of pools, which are parts of other blocks
  ComparedMemory allocated;                  // in all, by places with a source file; no difference of the memory
  std::optional<LaunchDifferences> launches; // none: a result file has no launches
  std::vector<FindingChange> findings;
  size_t first_runs = 1, second_runs = 1; // of several, the figures are means
  uint64_t peak_spread_bytes = 0;         // by how much the peaks of one side differ

  // Whether the memory differs. Moved places, and another environment with the same memory, are no difference.
  bool differs() const;
};

// The change, or 0 if runs of one side differ by as much.
int64_t changeBeyond(uint64_t spread_bytes, uint64_t before, uint64_t after);

RunComparison compareRuns(const Report &first, const Report &second, StateAt at = StateAt::Peak);

// Says how much more or less memory the second run needs, and which places need it. One or two sentences.
std::string sentenceOf(const RunComparison &);
nlohmann::ordered_json comparisonJson(const RunComparison &, const NameTable &names);
void writeComparisonJson(std::ostream &, const RunComparison &, const NameTable &names);
// `is_whole`: all changed places, as trees (place_tree.h), all facts and all findings.
void writeComparisonText(std::ostream &, const RunComparison &, size_t columns, bool is_whole = false);

} // namespace msleaks::analysis::inline compare
