#include "analysis/stream/checkpoints.h"

#include <utility>

namespace msleaks::analysis::inline stream {

void Checkpoints::take(const LiveSet &live, uint64_t time_ns, uint64_t events) {
  next_ = events + std::max(events_, kEventsPerBlock * live.liveBlocks());
  ByteWriter state;
  const auto numbers = [this](const std::vector<SiteId> &sites) { return catalog_.numbersOf(sites); };
  if (!live.save(time_ns, numbers, state) || state.size() > maxRawBytes(ChunkKind::Index))
    return;
  taken_.push_back(packCheckpoint(time_ns, events, state.written(), compressor_));
  bytes_ += taken_.back().chunk.size();
  while (bytes_ > kMostBytes && taken_.size() > 1)
    thinOut();
}

// Removes every second checkpoint. From now on, they are taken half as often.
void Checkpoints::thinOut() {
  std::vector<PackedCheckpoint> kept;
  bytes_ = 0;
  for (size_t i = 1; i < taken_.size(); i += 2) {
    bytes_ += taken_[i].chunk.size();
    kept.push_back(std::move(taken_[i]));
  }
  taken_ = std::move(kept);
  events_ *= 2;
}

} // namespace msleaks::analysis::inline stream
