// The launches of two runs, side by side: which of them differ in memory, and which are in one run only.
#pragma once

#include "analysis/compare/launches.h"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

namespace msleaks::analysis::inline compare {

struct LaunchMemory {
  uint64_t before_bytes = 0, after_bytes = 0, peak_bytes = 0; // as in Launch
};

enum class LaunchState : uint8_t {
  Same, // it changes the memory by as much as in the other run, and has as much within
  Changed,
  New,  // only in the second run
  Gone, // only in the first one
};

struct LaunchDifference {
  uint32_t name = 0; // number in the NameTable
  bool is_range = false;
  std::optional<uint8_t> device;             // none: the host
  uint32_t process = 0;                      // as in LaunchSequence
  std::optional<LaunchMemory> before, after; // in the first run, and in the second one
  LaunchState state = LaunchState::Same;

  // The memory that it leaves in the second run, less that of the first run.
  int64_t changeBytes() const;
};

struct LaunchDifferences {
  std::vector<LaunchDifference> differing; // by sequence, and then in the order of the launches
  uint64_t same = 0, changed = 0, added = 0, gone = 0;
  int64_t change_bytes = 0; // of all differing launches; not of ranges, which contain launches
  bool coarse = false;      // see Alignment
};

// Sequences belong together if they have the same device and the same process. Both runs use one NameTable.
LaunchDifferences compareLaunches(const RunLaunches &first, const RunLaunches &second);

// The differing launches: [{name, kind, device, process, before, after, state}].
nlohmann::ordered_json launchesJson(const LaunchDifferences &, const NameTable &names);
// {same, changed, new, gone, change_bytes, coarse}
nlohmann::ordered_json launchCountsJson(const LaunchDifferences &);

} // namespace msleaks::analysis::inline compare
