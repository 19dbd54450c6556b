// Reads a run twice: first for its report, then for a reader that needs the finished report before the blocks.
//
// In the second reading, blocks begin and end as they do for an analyzer, so their sums are those of the report. But a
// block has from its beginning the place and the owner that later events told.
#pragma once

#include "analysis/live/cohorts.h"
#include "analysis/live/launched_kernels.h"
#include "analysis/live/live_set.h"
#include "analysis/places/site_catalog.h"
#include "analysis/report/analyze_run.h"
#include "analysis/trace/trace_reader.h"

#include <cstdint>
#include <filesystem>

namespace msleaks::analysis::inline report {

// Objects that a reader may use in the second reading.
struct ReadRun {
  const Report &report;
  const TraceReader &trace;
  const Cohorts &cohorts; // of all blocks; live/owners.h tells their owners and modules
  SiteCatalog &catalog;
  LaunchedKernels kernels{}; // kernels that were launched up to the current event
};

// The number of a block in one run, from 1 in the order of beginnings. A part that remains of a block, and a block that
// comes back after a failed realloc, have numbers of their own.
using BlockNumber = uint64_t;

class BlockReader {
public:
  virtual ~BlockReader() = default;
  // Adds to the question what the report must contain besides its usual content.
  virtual void ask(ReportQuestion &) const {}
  // The kinds of events for onEvent(), as the bits abi::enabledBit.
  virtual uint32_t eventKinds() const { return 0; }
  // Whether the reader still needs what follows.
  virtual bool goesOn() const { return true; }

  virtual void begin(ReadRun &) {}
  // In the order of the events. Blocks that an event begins or ends come before the event itself.
  virtual void onAlloc(ReadRun &, const Block &, BlockNumber, AllocCause, uint64_t time_ns) = 0;
  virtual void onFree(ReadRun &, const Block &, BlockNumber, FreeCause, uint64_t time_ns) = 0;
  // A launch, copy or fill uses the block (BlockObserver::onUse).
  virtual void onUse(ReadRun &, const Block &, BlockNumber, const Use &) {}
  // `site`: the event's site in the catalog.
  virtual void onEvent(ReadRun &, const StreamEvent &, SiteId /*site*/) {}
  virtual void end(ReadRun &) {}
};

// The memory grows with the blocks that are alive at the same time, and with places. It also grows by 16 bytes for each
// block whose place or owner a later event told. `reading_again` is called between both readings.
Result<Report> readBlocks(const std::filesystem::path &run, BlockReader &, const Progress &progress = {},
                          const std::function<void()> &reading_again = {});

} // namespace msleaks::analysis::inline report
