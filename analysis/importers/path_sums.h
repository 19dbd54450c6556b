// Sums of memory by path, without times, as the events of a run: blocks that were freed, and then blocks that are
// alive.
#pragma once

#include "analysis/importers/foreign_run.h"
#include "analysis/live/cohort_sums.h"

#include <cstdint>
#include <vector>

namespace msleaks::analysis::inline importers {

class PathSums {
public:
  // The blocks of a path that are alive, and those that were freed.
  void add(uint32_t site, const BlockSum &alive, const BlockSum &freed) { paths_.push_back({site, alive, freed}); }
  // Adds the blocks to the run, as blocks of the host. The blocks of a path have nearly equal sizes. Their bytes are
  // exact. If there are too many blocks, adds fewer, and a note.
  void write(ForeignRun &, ForeignRun::Process &);

private:
  static constexpr uint64_t kMostBlocks = 1'000'000;
  struct Path {
    uint32_t site;
    BlockSum alive, freed;
  };
  void addBlocks(ForeignRun &, ForeignRun::Process &, uint32_t site, const BlockSum &, bool are_freed);

  std::vector<Path> paths_;
  uint64_t next_address_ = 4096, time_ns_ = 1000;
};

} // namespace msleaks::analysis::inline importers
