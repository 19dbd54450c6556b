// Takes checkpoints of a live set while events are read. So a report about a window of a long recording need not begin
// with the first event. Stores the checkpoints packed, until they can be written after the events.
#pragma once

#include "analysis/live/live_set.h"
#include "analysis/places/site_catalog.h"
#include "analysis/trace/checkpoint.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace msleaks::analysis::inline stream {

class Checkpoints {
public:
  // A report reads eight million events per second. On average, half of this number is read before a window.
  static constexpr uint64_t kEvents = 2'000'000;

  // `catalog` is the catalog of the live set. A checkpoint is taken about every `events` events.
  explicit Checkpoints(const SiteCatalog &catalog, uint64_t events = kEvents)
      : catalog_(catalog), events_(events), next_(events) {}

  // The number of events after which the next checkpoint is due.
  uint64_t next() const { return next_; }
  // `live` is the state after the first `events` events, which are all events until `time_ns`. All others are later.
  void take(const LiveSet &live, uint64_t time_ns, uint64_t events);

  const std::vector<PackedCheckpoint> &taken() const { return taken_; }

private:
  // A live block takes about 8 bytes in a checkpoint, and an event 2 to 6 bytes in the trace. So all checkpoints
  // together take a fifth of the trace, or less if fewer blocks are alive (7 % with 200,000).
  static constexpr uint64_t kEventsPerBlock = 8;
  static constexpr uint64_t kMostBytes = 128 << 20;

  void thinOut();

  const SiteCatalog &catalog_;
  uint64_t events_, next_;
  Compressor compressor_;
  std::vector<PackedCheckpoint> taken_;
  uint64_t bytes_ = 0;
};

} // namespace msleaks::analysis::inline stream
