#include "analysis/trace/event_encoder.h"

#include "analysis/trace/format.h"

#include <algorithm>
#include <utility>

namespace msleaks::analysis::trace {

EventRun measureRun(std::span<const abi::Slot> slots) {
  EventRun run;
  uint64_t previous = 0;
  while (run.slots < slots.size() && run.events < kMaxChunkEvents) {
    const abi::EventHeader &header = slots[run.slots].header;
    if (!abi::isWholeEvent(&slots[run.slots], slots.size() - run.slots))
      break;
    run.sorted &= header.time >= previous;
    previous = header.time;
    run.first_time_ns = std::min(run.first_time_ns, header.time);
    run.last_time_ns = std::max(run.last_time_ns, header.time);
    run.slots += abi::slotsOf(header.kind);
    ++run.events;
  }
  return run;
}

void EventEncoder::Column::begin(Encoding encoding, uint64_t first, uint32_t events) {
  constexpr size_t kMostBytes = size_t{2} * kMaxVarintBytes; // "new", and the value
  if (buffer_.size() < events * kMostBytes)
    buffer_.resize(events * kMostBytes);
  at_ = buffer_.data();
  encoding_ = encoding;
  first_ = first;
  previous_ = 0;
  if (encoding != Encoding::Listed)
    return;
  if (list_)
    list_->restart();
  else
    list_ = std::make_unique<ListWriter>();
}

template <Encoding encoding> void EventEncoder::Column::put(uint64_t value, EventEncoder &encoder) {
  if (!at_) [[unlikely]]
    begin(encoding, value, encoder.events_);
  if constexpr (encoding == Encoding::Plain) {
    at_ = putVarint(at_, value);
  } else if constexpr (encoding == Encoding::Listed) {
    const uint32_t number = list_->find(value);
    at_ = putVarint(at_, number);
    if (number == 0)
      at_ = putVarint(at_, value);
  } else if constexpr (encoding == Encoding::Recalled) {
    const uint32_t ago = encoder.addresses_.recall.mention(value);
    at_ = putVarint(at_, ago);
    if (ago == 0)
      at_ = putVarint(at_, zigzag(value - std::exchange(encoder.addresses_.last_new, value)));
  } else {
    const uint64_t difference = value - std::exchange(previous_, value);
    at_ = putVarint(at_, encoding == Encoding::Rise ? difference : zigzag(difference));
  }
}

// Whether all values are the first one: looked for only where it happens (sites, sizes of frees, streams, unused
// fields).
bool EventEncoder::Column::constant() const {
  const auto size = static_cast<size_t>(at_ - buffer_.data());
  if (encoding_ == Encoding::Listed)
    return list_->size() == 1;
  uint8_t first[kMaxVarintBytes];
  const auto length = static_cast<size_t>(putVarint(first, first_) - first);
  return encoding_ == Encoding::Plain && std::memcmp(buffer_.data(), buffer_.data() + length, size - length) == 0;
}

void EventEncoder::Column::finish(unsigned kind, unsigned field, ByteWriter &directory, ByteWriter &values) const {
  const bool sayOnce = constant();
  directory.fixed(static_cast<uint8_t>(kind));
  directory.fixed(static_cast<uint8_t>(field));
  directory.fixed(sayOnce ? Encoding::Constant : encoding_);
  if (sayOnce) {
    directory.varint(first_);
    return;
  }
  const std::span<const uint8_t> content(buffer_.data(), at_);
  directory.varint(content.size());
  values.bytes(content);
}

template <Encoding time> void EventEncoder::putEvents(std::span<const abi::Slot> slots) {
  Column *const header = columns_.at[0];
  for (size_t i = 0; i < slots.size(); i += abi::slotsOf(slots[i].header.kind)) {
    header[kTagColumn].put<Encoding::Listed>(tagOf(slots[i].header), *this);
    header[kTimeColumn].put<time>(slots[i].header.time, *this);
    header[kSiteColumn].put<Encoding::Listed>(slots[i].header.site, *this);
    Column *column = columns_.at[static_cast<unsigned>(slots[i].header.kind)];
    visitEvent(&slots[i], [&](const auto &event) {
      visitFieldsTyped(
          event, [&]<abi::Repr repr>(const auto &value) { (column++)->template put<encodingOf(repr)>(value, *this); });
    });
  }
}

std::span<const uint8_t> EventEncoder::encode(std::span<const abi::Slot> slots, const EventRun &run) {
  columns_.forEach([](unsigned, unsigned, Column &column) { column.restart(); });
  events_ = run.events;
  addresses_.recall.restart();
  addresses_.last_new = 0;
  if (run.sorted)
    putEvents<Encoding::Rise>(slots.first(run.slots));
  else
    putEvents<Encoding::Delta>(slots.first(run.slots));

  payload_.clear();
  values_.clear();
  unsigned used = 0;
  columns_.forEach([&](unsigned, unsigned, Column &column) { used += column.used(); });
  payload_.varint(used);
  columns_.forEach([&](unsigned kind, unsigned field, Column &column) {
    if (column.used())
      column.finish(kind, field, payload_, values_);
  });
  payload_.bytes(values_.written());
  return payload_.written();
}

} // namespace msleaks::analysis::trace
