// Event stream -> live set -> analyzers. Works on a file and live: events come one by one, ends of processes are told as
// soon as they are known.
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

  // Must be said before the first event that is later than the end.
  void expectEnd(uint32_t process, const ProcessFate &);

  void apply(const StreamEvent &event) {
    const uint64_t time_ns = event.event.header().time;
    if (time_ns >= next_end_ns_)
      endProcessesUntil(time_ns);
    last_event_ns_ = time_ns;
    const SiteId site = catalog_.find(event.process, event.event.header().site);
    live_.apply(event, site);
    if (!wanted_[static_cast<uint8_t>(event.event.header().kind)].empty())
      tellAnalyzers(event, site);
  }

  // No more events: processes end as expected, those without an expected end as StillAlive.
  void finish();

  const LiveSet &liveSet() const { return live_; }

private:
  // Events of a process' last moments may carry times a little after the end that somebody else saw.
  static constexpr uint64_t kEndSlackNs = 100'000;

  void endProcessesUntil(uint64_t time_ns);
  void end(uint32_t process, const ProcessFate &);
  void tellAnalyzers(const StreamEvent &, SiteId);
  static std::vector<BlockObserver *> observersOf(const std::vector<Analyzer *> &);

  SiteCatalog &catalog_;
  std::vector<Analyzer *> analyzers_;
  LiveSet live_;
  std::array<std::vector<Analyzer *>, 256> wanted_; // by event kind
  std::multimap<uint64_t, uint32_t> ends_;          // time to process
  std::unordered_map<uint32_t, ProcessFate> fates_;
  uint64_t next_end_ns_ = UINT64_MAX;
  uint64_t last_event_ns_ = 0;
};

// How each process of a trace ended: its end if the trace has one; exec, when another image has the same pid afterwards.
std::map<uint32_t, ProcessFate> fatesOf(const TraceReader &);

} // namespace msleaks::analysis
