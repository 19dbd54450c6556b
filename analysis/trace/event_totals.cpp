#include "analysis/trace/event_totals.h"

#include "analysis/trace/event_codec.h"

#include <memory>

namespace msleaks::analysis::inline trace {
namespace {

// Counts the events in the part of a chunk that an earlier chunk has stored. It must decode this part, because headers
// give the part's size only in slots.
class RepeatedEvents {
public:
  explicit RepeatedEvents(const InputFile &file) : payloads_(file) {}
  uint64_t count(const EventChunk &chunk) {
    if (chunk.skip_slots == 0 || !payloads_.read(chunk.place.header, chunk.place.offset, payload_))
      return 0;
    if (!decoder_)
      decoder_ = std::make_unique<EventDecoder>();
    if (!decoder_->open(payload_, chunk.place.header.events))
      return 0;
    uint64_t events = 0;
    abi::AnyEvent event{};
    for (uint32_t slots = 0; slots < chunk.skip_slots && decoder_->next(event); ++events)
      slots += abi::slotsOf(event.header().kind);
    return events;
  }

private:
  PayloadReader payloads_;
  std::vector<uint8_t> payload_;
  std::unique_ptr<EventDecoder> decoder_; // rarely needed, and large, so made on demand
};

} // namespace

EventPlan planEvents(const std::vector<ChunkPlace> &chunks, const InputFile &file) {
  EventPlan plan;
  struct Sum {
    uint64_t events = 0, stored_until = 0;
    bool is_there = false;
  };
  PerStream<Sum> streams;
  StreamPositions positions;
  RepeatedEvents repeated(file);
  for (const ChunkPlace &place : chunks) {
    if (place.header.kind != ChunkKind::Events)
      continue;
    const ChunkHeader &header = place.header;
    Sum &sum = streams.of(header.process, header.stream);
    sum.is_there = true;
    const auto chunk = positions.take(place);
    if (!chunk)
      continue;
    sum.events += header.events - repeated.count(*chunk);
    sum.stored_until = header.first_position + header.slots;
    plan.chunks.push_back(*chunk);
  }
  streams.forEach([&](uint32_t process, uint32_t stream, const Sum &sum) {
    if (sum.is_there)
      plan.streams.push_back({process, stream, sum.events, 0, sum.stored_until});
  });
  plan.chunks.shrink_to_fit();
  return plan;
}

} // namespace msleaks::analysis::inline trace
