// Event stream -> live set -> analyzers. Works on a file and live: events come one by one, ends of processes are told
// as soon as they are known.
#pragma once

#include "analysis/live/live_set.h"
#include "analysis/live/memory_history.h"
#include "analysis/places/site_catalog.h"
#include "analysis/stream/analyzer.h"
#include "analysis/stream/checkpoints.h"
#include "analysis/stream/selection.h"
#include "analysis/trace/pointers.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis::inline stream {

// Who only wants to know what is alive now does without the history of all maxima.
enum class History : uint8_t { Kept, LeftOut };

class Pipeline {
public:
  // Both outlive the pipeline; analyzers are told in this order, of the part of the recording that is selected.
  Pipeline(SiteCatalog &catalog, std::vector<Analyzer *> analyzers, Window window = {}, Selection selection = {},
           History history = History::Kept);

  // Must be said before the first event of the process (LiveSet::setPageBytes).
  void setPageBytes(uint32_t process, uint64_t page_bytes) { live_.setPageBytes(process, page_bytes); }

  // Must be said before the first event that is later than the end.
  void expectEnd(uint32_t process, const ProcessFate &);
  // The same of what its memory pointed to. It is read when the events have come to that time.
  void expectPointers(uint64_t time_ns, ReadPointed);
  // Ends and pointers that were said too late.
  uint64_t lateEnds() const { return late_ends_; }

  // Before the first event: `checkpoints` are taken from now on. Only where all of a recording is told.
  void take(Checkpoints &checkpoints) {
    checkpoints_ = &checkpoints;
    next_checkpoint_ = checkpoints.next();
  }
  // Goes on behind a checkpoint: the next event is the first one behind its time. Once, when all else is said that must
  // be said before the first event. False: it makes no sense, and nothing has happened.
  bool goOnFrom(const Checkpoint &);

  // Takes the event in. It is told to the analyzers kAhead events later, when the memory that it needs has arrived from
  // far away: at a million live blocks each look-up misses every cache.
  void apply(const StreamEvent &event) {
    Waiting &place = waiting_[taken_ % kAhead];
    if (taken_ >= told_ + kAhead)
      tellOldest();
    place.event = event;
    place.site = catalog_.find(event.process, event.event.header().site);
    live_.prefetch(event);
    ++taken_;
  }

  // Tells what still waits. Live, after each batch; a file needs only finish().
  void drain();

  // Live, after drain(): no event before this time is still to come, so processes that ended before it end now.
  void passTime(uint64_t time_ns) {
    if (time_ns >= next_end_ns_)
      endProcessesUntil(time_ns);
  }

  // The window has ended: later events change nothing.
  bool isDone() const { return gate_ && gate_->state() == Gate::State::Behind; }
  // When the window ended; of no use before isDone().
  uint64_t closedAt() const { return gate_->closedAt(); }
  // Whether the window has begun.
  bool hasBegun() const { return !gate_ || gate_->state() != Gate::State::Before; }
  bool waitsForStepOrMark() const { return gate_ && gate_->waitsForStepOrMark(); }

  // No more events: processes end as expected, those without an expected end as StillAlive.
  void finish();

  const LiveSet &liveSet() const { return live_; }
  const MemoryHistory &history() const { return history_; }
  // Counted where an analyzer looks at them.
  const Peaks &peaks() const { return peaks_; }

private:
  static constexpr size_t kAhead = 16;
  // Events of a process' last moments may carry times a little after the end that somebody else saw.
  static constexpr uint64_t kEndSlackNs = 100'000;

  struct Waiting {
    StreamEvent event;
    SiteId site;
  };

  void tellOldest();
  void takeCheckpoint(uint64_t next_event_ns);
  void endProcessesUntil(uint64_t time_ns);
  void passGateUntil(uint64_t time_ns);
  void end(uint32_t process, const ProcessFate &);
  void followPointers(const PointedMemory &);
  void setNextEnd();
  void tellAnalyzers(const StreamEvent &, SiteId);
  std::vector<BlockObserver *> observers(Window &&, Selection &&, History);

  SiteCatalog &catalog_;
  std::vector<Analyzer *> analyzers_;
  MemoryHistory history_;
  Peaks peaks_;
  std::unique_ptr<Gate> gate_; // null: all is told
  LiveSet live_;
  std::array<Waiting, kAhead> waiting_{};
  uint64_t taken_ = 0, told_ = 0;                   // events
  std::array<std::vector<Analyzer *>, 256> wanted_; // by event kind
  std::multimap<uint64_t, uint32_t> ends_;          // time to process
  std::multimap<uint64_t, ReadPointed> pointers_;   // by time
  std::unordered_map<uint32_t, ProcessFate> fates_;
  uint64_t next_end_ns_ = UINT64_MAX; // or of pointers
  uint64_t last_event_ns_ = 0;
  uint64_t last_end_ns_ = 0; // of those that were told
  uint64_t late_ends_ = 0;
  Checkpoints *checkpoints_ = nullptr;
  uint64_t next_checkpoint_ = UINT64_MAX; // events behind which one is due
};

ProcessFate fateOf(const ProcessEnd &);
// The processes with the same pid in the same namespace: the earlier image is gone since the later one began.
bool replaces(const ProcessStart &later, const ProcessStart &earlier);

// How each process of a trace ended. It is its end if the trace has one. It is exec when another image of the same pid
// began before that end, and nobody saw how it ended.
std::map<uint32_t, ProcessFate> fatesOf(const TraceReader &);

} // namespace msleaks::analysis::inline stream
