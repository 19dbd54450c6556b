// An analyzer sees births and deaths of blocks (BlockObserver) and, if it asks for them, events, and says at the end
// what it found. Rules: it streams; its memory grows with what is alive and with the number of cohorts, never with the
// number of events or of ended threads. To add one: CONTRIBUTING.md.
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

// How a process image came to its end.
struct ProcessFate {
  FreeCause cause = FreeCause::StillAlive; // one of isEnd
  uint64_t time_ns = 0;
  int exit_status = -1; // as a shell reports it; -1 = not known
  bool operator==(const ProcessFate &) const = default;
};

class Analyzer : public BlockObserver {
public:
  virtual std::string_view name() const = 0;

  // Before the first event: what the numbers of cohorts and of their owners stand for. Both grow, and outlive the
  // analyzer.
  virtual void useCohorts(const Cohorts &, const Labels &) {}

  // The same for the highest points of the memory in use, which are counted once for all (peaks.h). Returns whether the
  // analyzer looks at them: if no analyzer does, nobody counts.
  virtual bool usePeaks(const Peaks &) { return false; }

  // Kinds of events that onEvent wants: abi::enabledBit of each.
  virtual uint32_t eventKinds() const { return 0; }
  // After the live set has taken the event in; `site` is its site in the catalog.
  virtual void onEvent(const StreamEvent &, SiteId /*site*/) {}

  // After the deaths of what the process had alive.
  virtual void onProcessEnd(uint32_t /*process*/, const ProcessFate &) {}

  // Whether it wants to know which blocks something still pointed to, which takes a while where there are many.
  virtual bool wantsReach() const { return false; }
  // When the memory of the process was read; in an ordinary run, shortly before it ends.
  virtual void onReach(uint32_t /*process*/, const std::shared_ptr<const Reachability> &) {}

  // After the last event: findings, and sections of the report.
  virtual void conclude(Conclusion &) const {}

  void onAlloc(const Block &, AllocCause, uint64_t /*time_ns*/) override {}
  void onFree(const Block &, FreeCause, uint64_t /*time_ns*/) override {}
  void onRetarget(const Block &, const Block & /*before*/, uint64_t /*time_ns*/) override {}
};

} // namespace msleaks::analysis::inline stream
