// An analyzer receives births and deaths of blocks (BlockObserver) and, if it asks for them, events. At the end it
// returns its results. Its memory may grow with the number of live blocks and of cohorts. It must not grow with the
// number of events or of ended threads. CONTRIBUTING.md shows how to add an analyzer.
#pragma once

#include "analysis/findings/conclusion.h"
#include "analysis/live/live_set.h"
#include "analysis/live/peaks.h"
#include "analysis/live/reachability.h"
#include "analysis/trace/trace_reader.h"
#include "msleaks/abi/events.h"

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace msleaks::analysis::inline stream {

// How a process image ended.
struct ProcessFate {
  FreeCause cause = FreeCause::StillAlive; // a cause for which isEnd() is true
  uint64_t time_ns = 0;
  int exit_status = -1; // as a shell reports it; -1 = not known
  bool operator==(const ProcessFate &) const = default;
};

class Analyzer : public BlockObserver {
public:
  virtual std::string_view name() const = 0;

  // Called before the first event. The objects give the meaning of numbers of cohorts and owners. Both grow, and
  // outlive the analyzer.
  virtual void useCohorts(const Cohorts &, SiteCatalog &) {}

  // The same for the live blocks. They may be asked for in onEvent().
  virtual void useLiveBlocks(const BlocksByProcess &) {}

  // The same for the highest points of the memory in use (peaks.h). Returns whether the analyzer uses them: if no
  // analyzer does, they are not computed.
  virtual bool usePeaks(const Peaks &) { return false; }

  // The kinds of events for onEvent, as the bits abi::enabledBit.
  virtual uint32_t eventKinds() const { return 0; }
  // Called after the live set has processed the event. `site` is the event's site in the catalog.
  virtual void onEvent(const StreamEvent &, SiteId /*site*/) {}

  // Called after the deaths of the process' live blocks.
  virtual void onProcessEnd(uint32_t /*process*/, const ProcessFate &) {}

  // Whether the analyzer needs to know which blocks something still points to. With many blocks, this takes a while.
  virtual bool wantsReach() const { return false; }
  // Called at the time when the process' memory was read: usually shortly before the process ends.
  virtual void onReach(uint32_t /*process*/, const std::shared_ptr<const Reachability> &) {}

  // Called after the last event. Adds findings and sections of the report.
  virtual void conclude(Conclusion &) const {}

  void onAlloc(const Block &, AllocCause, uint64_t /*time_ns*/) override {}
  void onFree(const Block &, FreeCause, uint64_t /*time_ns*/) override {}
  void onRetarget(const Block &, const Block & /*before*/, uint64_t /*time_ns*/) override {}
};

} // namespace msleaks::analysis::inline stream
