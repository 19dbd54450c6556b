// Compares the launches of two runs. Finds launches whose memory differs, and launches of one run only.
#pragma once

#include "analysis/compare/launches.h"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

namespace msleaks::analysis::inline compare {

struct LaunchMemory {
  uint64_t before_bytes = 0, after_bytes = 0, peak_bytes = 0; // see Launch
};

enum class LaunchState : uint8_t {
  Same, // the launch changes the memory by the same amount in both runs, also at its peak
  Changed,
  New,  // the launch is only in the second run
  Gone, // the launch is only in the first run
};

const char *nameOf(LaunchState);

struct LaunchDifference {
  uint32_t name = 0; // number in the NameTable
  bool is_range = false;
  std::optional<uint8_t> device;             // none: the host
  uint32_t process = 0;                      // see LaunchSequence
  std::optional<LaunchMemory> before, after; // in the first run; in the second run
  LaunchState state = LaunchState::Same;

  // The memory that the launch adds in the second run, less the memory that it adds in the first run.
  int64_t changeBytes() const;
};

// A launch of a picture of both sequences side by side. It shows all launches that differ, and the nearest equal ones.
struct AlignedLaunch : LaunchDifference {
  uint64_t same_before = 0; // equal launches that are left out before it
  uint64_t same_after = 0;  // equal launches that are left out after the last one of its sequence
};

struct LaunchDifferences {
  static constexpr size_t kMostAligned = 2000, kNearest = 3;

  std::vector<LaunchDifference> differing; // by sequence, then in the order of launches
  uint64_t same = 0, changed = 0, added = 0, gone = 0;
  int64_t change_bytes = 0; // sum over all differing launches; without ranges, because they contain launches
  bool coarse = false;      // see Alignment
  std::vector<AlignedLaunch> aligned;
  uint64_t differing_left_out = 0; // differing launches that are not in `aligned`
};

// Compares the sequences that have the same device and the same process number. Both runs use one NameTable.
LaunchDifferences compareLaunches(const RunLaunches &first, const RunLaunches &second);

// Returns the differing launches: [{name, kind, device, process, before, after, state}].
nlohmann::ordered_json launchesJson(const LaunchDifferences &, const NameTable &names);
// Returns {same, changed, new, gone, change_bytes, coarse}.
nlohmann::ordered_json launchCountsJson(const LaunchDifferences &);

} // namespace msleaks::analysis::inline compare
