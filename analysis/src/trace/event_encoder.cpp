#include "trace/event_encoder.h"

#include "trace/format.h"

#include <algorithm>
#include <utility>

namespace msleaks::analysis::trace {

namespace {

bool wholeEvent(std::span<const abi::Slot> slots, unsigned count) {
  if (count == 0 || count > slots.size())
    return false;
  for (unsigned i = 1; i < count; ++i)
    if (slots[i].header.kind != abi::EventKind::Continuation)
      return false;
  return true;
}

} // namespace

EventRun measureRun(std::span<const abi::Slot> slots) {
  EventRun run;
  uint64_t previous = 0;
  while (run.slots < slots.size() && run.events < kMaxChunkEvents) {
    const abi::EventHeader &header = slots[run.slots].header;
    const unsigned count = abi::slotsOf(header.kind);
    if (!wholeEvent(slots.subspan(run.slots), count))
      break;
    run.sorted &= header.time >= previous;
    previous = header.time;
    run.first_time_ns = std::min(run.first_time_ns, header.time);
    run.last_time_ns = std::max(run.last_time_ns, header.time);
    run.slots += count;
    ++run.events;
  }
  return run;
}

void EventEncoder::Column::restart() {
  bytes_.clear();
  first_ = previous_ = differs_ = 0;
  used_ = false;
  if (list_)
    list_->restart();
}

template <Encoding encoding> void EventEncoder::Column::put(uint64_t value, Addresses &addresses) {
  if (!used_) {
    used_ = true;
    first_ = value;
    encoding_ = encoding;
    if (encoding == Encoding::Listed && !list_)
      list_ = std::make_unique<ListWriter>();
  }
  differs_ |= value ^ first_;
  if constexpr (encoding == Encoding::Plain) {
    bytes_.varint(value);
  } else if constexpr (encoding == Encoding::Listed) {
    const uint32_t number = list_->find(value);
    bytes_.varint(number);
    if (number == 0)
      bytes_.varint(value);
  } else if constexpr (encoding == Encoding::Recalled) {
    const uint32_t ago = addresses.recall.mention(value);
    bytes_.varint(ago);
    if (ago == 0)
      bytes_.varint(zigzag(value - std::exchange(addresses.last_new, value)));
  } else {
    const uint64_t difference = value - std::exchange(previous_, value);
    bytes_.varint(encoding == Encoding::Rise ? difference : zigzag(difference));
  }
}

void EventEncoder::Column::finish(unsigned kind, unsigned field, ByteWriter &directory, ByteWriter &values) const {
  directory.fixed(static_cast<uint8_t>(kind));
  directory.fixed(static_cast<uint8_t>(field));
  const bool constant = differs_ == 0 && encoding_ != Encoding::Recalled;
  const Encoding encoding = constant ? Encoding::Constant : encoding_;
  directory.fixed(encoding);
  if (encoding == Encoding::Constant) {
    directory.varint(first_);
  } else {
    directory.varint(bytes_.size());
    values.bytes(bytes_.written());
  }
}

// Kind, heap, device and flags: a stream has about as many different ones as it has kinds of calls.
static uint32_t tagOf(const abi::EventHeader &header) {
  uint32_t tag;
  std::memcpy(&tag, &header, sizeof tag);
  return tag;
}

template <Encoding time> void EventEncoder::putEvents(std::span<const abi::Slot> slots) {
  Column *const header = columns_.at[0];
  for (size_t i = 0; i < slots.size(); i += abi::slotsOf(slots[i].header.kind)) {
    header[kTagColumn].put<Encoding::Listed>(tagOf(slots[i].header), addresses_);
    header[kTimeColumn].put<time>(slots[i].header.time, addresses_);
    header[kSiteColumn].put<Encoding::Listed>(slots[i].header.site, addresses_);
    Column *column = columns_.at[static_cast<unsigned>(slots[i].header.kind)];
    visitEvent(&slots[i], [&](const auto &event) {
      visitFieldsTyped(event, [&]<abi::Repr repr>(const auto &value) {
        (column++)->template put<encodingOf(repr)>(value, addresses_);
      });
    });
  }
}

std::span<const uint8_t> EventEncoder::encode(std::span<const abi::Slot> slots, const EventRun &run) {
  columns_.forEach([](unsigned, unsigned, Column &column) { column.restart(); });
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
