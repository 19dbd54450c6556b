#include "trace/event_encoder.h"

#include "trace/format.h"

#include <algorithm>

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

void EventEncoder::Column::put(Encoding encoding, uint64_t value) {
  if (!used_) {
    used_ = true;
    first_ = value;
    encoding_ = encoding;
  }
  differs_ |= value ^ first_;
  const uint64_t difference = value - previous_;
  previous_ = value;
  bytes_.varint(encoding == Encoding::Plain ? value : encoding == Encoding::Rise ? difference : zigzag(difference));
}

void EventEncoder::Column::finish(unsigned kind, unsigned field, ByteWriter &directory, ByteWriter &values) const {
  directory.fixed(static_cast<uint8_t>(kind));
  directory.fixed(static_cast<uint8_t>(field));
  const Encoding encoding = differs_ == 0 ? Encoding::Constant : encoding_;
  directory.fixed(encoding);
  if (encoding == Encoding::Constant) {
    directory.varint(first_);
  } else {
    directory.varint(bytes_.size());
    values.bytes(bytes_.written());
  }
}

uint32_t EventEncoder::tagOf(const abi::EventHeader &header) {
  uint32_t tag;
  std::memcpy(&tag, &header, sizeof tag);
  // Few and repeating: a stream has about as many tags as it has kinds of calls.
  const auto found = std::find(tags_.begin(), tags_.end(), tag);
  if (found == tags_.end()) {
    tags_.push_back(tag);
    return static_cast<uint32_t>(tags_.size() - 1);
  }
  return static_cast<uint32_t>(found - tags_.begin());
}

std::span<const uint8_t> EventEncoder::encode(std::span<const abi::Slot> slots, const EventRun &run) {
  columns_.forEach([](unsigned, unsigned, Column &column) { column.clear(); });
  tags_.clear();
  Column *const header = columns_.at[0];
  const Encoding timeEncoding = run.sorted ? Encoding::Rise : Encoding::Delta;
  for (uint32_t i = 0; i < run.slots; i += abi::slotsOf(slots[i].header.kind)) {
    header[kTagColumn].put(Encoding::Plain, tagOf(slots[i].header));
    header[kTimeColumn].put(timeEncoding, slots[i].header.time);
    header[kSiteColumn].put(Encoding::Plain, slots[i].header.site);
    Column *column = columns_.at[static_cast<unsigned>(slots[i].header.kind)];
    visitEvent(&slots[i], [&](const auto &event) {
      abi::visitFields(
          event, [&](const char *, abi::Repr repr, const auto &value) { column++->put(encodingOf(repr), value); });
    });
  }

  payload_.clear();
  values_.clear();
  payload_.varint(tags_.size());
  for (const uint32_t tag : tags_)
    payload_.fixed(tag);
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
