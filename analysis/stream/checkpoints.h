// Takes checkpoints of a live set while events go by, so that who asks for a window of a long recording need not begin
// with its first event. They are kept packed until they can go behind the events.
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
  // A report reads eight million events a second: half of this many lie before a window on the average.
  static constexpr uint64_t kEvents = 2'000'000;

  // `catalog` is that of the live set. A checkpoint is taken about every `events` events.
  explicit Checkpoints(const SiteCatalog &catalog, uint64_t events = kEvents)
      : catalog_(catalog), events_(events), next_(events) {}

  // Events behind which the next one is wanted.
  uint64_t next() const { return next_; }
  // `live` is what all events until `time_ns` have left, `events` of them, and none that comes is so early.
  void take(const LiveSet &live, uint64_t time_ns, uint64_t events);

  const std::vector<PackedCheckpoint> &taken() const { return taken_; }

private:
  // A live block takes some 8 bytes of a checkpoint, an event 2 to 6 of the trace. So all checkpoints together take a
  // fifth of the trace, or less where fewer blocks are alive (7 % with 200,000).
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
