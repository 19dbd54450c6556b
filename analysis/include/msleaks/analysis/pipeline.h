// Event stream -> live set -> analyzers. Works on a file and live: events come one by one, ends of processes are told
// as soon as they are known.
#pragma once

#include "msleaks/analysis/analyzer.h"
#include "msleaks/analysis/live_set.h"
#include "msleaks/analysis/site_catalog.h"

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis {

class Pipeline {
public:
  // Both outlive the pipeline; analyzers are told in this order.
  Pipeline(SiteCatalog &catalog, std::vector<Analyzer *> analyzers);

  // Must be said before the first event of the process (LiveSet::setPageBytes).
  void setPageBytes(uint32_t process, uint64_t page_bytes) { live_.setPageBytes(process, page_bytes); }

  // Must be said before the first event that is later than the end.
  void expectEnd(uint32_t process, const ProcessFate &);

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

  // No more events: processes end as expected, those without an expected end as StillAlive.
  void finish();

  const LiveSet &liveSet() const { return live_; }

private:
  static constexpr size_t kAhead = 16;
  // Events of a process' last moments may carry times a little after the end that somebody else saw.
  static constexpr uint64_t kEndSlackNs = 100'000;

  struct Waiting {
    StreamEvent event;
    SiteId site;
  };

  void tellOldest();
  void endProcessesUntil(uint64_t time_ns);
  void end(uint32_t process, const ProcessFate &);
  void tellAnalyzers(const StreamEvent &, SiteId);
  static std::vector<BlockObserver *> observersOf(const std::vector<Analyzer *> &);

  SiteCatalog &catalog_;
  std::vector<Analyzer *> analyzers_;
  LiveSet live_;
  std::array<Waiting, kAhead> waiting_{};
  uint64_t taken_ = 0, told_ = 0;                   // events
  std::array<std::vector<Analyzer *>, 256> wanted_; // by event kind
  std::multimap<uint64_t, uint32_t> ends_;          // time to process
  std::unordered_map<uint32_t, ProcessFate> fates_;
  uint64_t next_end_ns_ = UINT64_MAX;
  uint64_t last_event_ns_ = 0;
};

// How each process of a trace ended: its end if the trace has one; exec, when another image of the same pid began
// before that end and nobody saw how it ended.
std::map<uint32_t, ProcessFate> fatesOf(const TraceReader &);

} // namespace msleaks::analysis
