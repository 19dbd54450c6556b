// Passes events to the live set, and from there to the analyzers. It works with a file or a running session: it takes
// events one by one, and ends of processes as soon as they are known.
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

// A user who only needs the present live blocks leaves out the history of all maxima.
enum class History : uint8_t { Kept, LeftOut };

class Pipeline {
public:
  // Catalog and analyzers must outlive the pipeline. The analyzers receive only the selected part, in this order.
  Pipeline(SiteCatalog &catalog, std::vector<Analyzer *> analyzers, Window window = {}, Selection selection = {},
           History history = History::Kept);

  // Call it before the first event of the process (LiveSet::setPageBytes).
  void setPageBytes(uint32_t process, uint64_t page_bytes) { live_.setPageBytes(process, page_bytes); }

  // Call it before the first event that is later than the end.
  void expectEnd(uint32_t process, const ProcessFate &);
  // The same for the process' pointers at this time. They are read when the events have reached this time.
  void expectPointers(uint64_t time_ns, ReadPointed);
  // The number of ends and pointers that came too late.
  uint64_t lateEnds() const { return late_ends_; }

  // Takes checkpoints from now on. Call it before the first event, and only if the whole recording is passed.
  void take(Checkpoints &checkpoints) {
    checkpoints_ = &checkpoints;
    next_checkpoint_ = checkpoints.next();
  }
  // Continues from a checkpoint: the next event is the first one after its time. Call it once, before the first event
  // and after all other preparations. Returns false if the checkpoint makes no sense; then nothing has changed.
  bool goOnFrom(const Checkpoint &);

  // Takes an event. It is processed kAhead events later, when the memory that it needs has arrived in the cache. With a
  // million live blocks, each look-up would otherwise miss all caches.
  void apply(const StreamEvent &event) {
    Waiting &place = waiting_[taken_ % kAhead];
    if (taken_ >= told_ + kAhead)
      tellOldest();
    place.event = event;
    place.site = catalog_.find(event.process, event.event.header().site);
    live_.prefetch(event);
    if (taken_ >= told_ + kAhead / 2)
      live_.prefetchBlock(waiting_[(taken_ - kAhead / 2) % kAhead].event);
    ++taken_;
  }

  // Processes the waiting events. For a running session, call it after each batch. For a file, finish() is enough.
  void drain();

  // For a running session, after drain(): no earlier event can follow. Ends the processes that ended before this time.
  void passTime(uint64_t time_ns) {
    if (time_ns >= next_end_ns_)
      endProcessesUntil(time_ns);
  }

  // Whether the window has ended. Later events change nothing.
  bool isDone() const { return gate_ && gate_->state() == Gate::State::Behind; }
  // When the window ended. Valid only if isDone().
  uint64_t closedAt() const { return gate_->closedAt(); }
  // Whether the window has begun.
  bool hasBegun() const { return !gate_ || gate_->state() != Gate::State::Before; }
  bool waitsForStepOrMark() const { return gate_ && gate_->waitsForStepOrMark(); }

  // No more events follow. Processes end as expected, or as StillAlive if no end is expected.
  void finish();

  const LiveSet &liveSet() const { return live_; }
  const MemoryHistory &history() const { return history_; }
  // Computed only if an analyzer uses them.
  const Peaks &peaks() const { return peaks_; }

private:
  static constexpr size_t kAhead = 16;
  // The last events of a process may have times a little later than the end that another process noticed.
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
  std::unique_ptr<Gate> gate_; // null: everything is selected
  LiveSet live_;
  std::array<Waiting, kAhead> waiting_{};
  uint64_t taken_ = 0, told_ = 0;                   // numbers of events
  std::array<std::vector<Analyzer *>, 256> wanted_; // by kind of event
  std::multimap<uint64_t, uint32_t> ends_;          // time to process
  std::multimap<uint64_t, ReadPointed> pointers_;   // by time
  std::unordered_map<uint32_t, ProcessFate> fates_;
  uint64_t next_end_ns_ = UINT64_MAX; // the next end, or the next pointers
  uint64_t last_event_ns_ = 0;
  uint64_t last_end_ns_ = 0; // of ends that were passed on
  uint64_t late_ends_ = 0;
  Checkpoints *checkpoints_ = nullptr;
  uint64_t next_checkpoint_ = UINT64_MAX; // number of events after which one is due
};

ProcessFate fateOf(const ProcessEnd &);
// Whether the later of two processes with the same pid and namespace replaced the image of the earlier one.
bool replaces(const ProcessStart &later, const ProcessStart &earlier);

// How each process of a trace ended. Usually the trace contains the end. If a later image of the same pid began before
// that end, the process ended by exec.
std::map<uint32_t, ProcessFate> fatesOf(const TraceReader &);

} // namespace msleaks::analysis::inline stream
