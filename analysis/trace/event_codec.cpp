#include "analysis/trace/event_codec.h"

#include "analysis/trace/format.h"

#include <algorithm>
#include <utility>

namespace msleaks::analysis::inline trace {

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
  constexpr size_t kMostBytes = size_t{2} * kMaxVarintBytes; // a 0 for "new", and the value
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

// Whether all values equal the first one. Checks only Listed and Plain columns, where this happens: sites, sizes of
// frees, streams, unused fields.
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

static_assert(kColumnRows * kMaxFields <= kMaxColumns, "a reader refuses more");

bool EventDecoder::open(std::span<const uint8_t> content, uint32_t events) {
  columns_.forEach([](unsigned, unsigned, Column &column) { column.restart(); });
  addresses_.recall.restart();
  addresses_.last_new = 0;
  foreign_.clear();
  left_ = events;
  unknown_ = 0;
  ByteReader payload(content);
  return readDirectory(payload);
}

EventDecoder::Column &EventDecoder::columnFor(uint8_t kind, uint8_t field) {
  if (field < fieldsOf(kind))
    return columns_.at[kind][field];
  return foreign_.emplace_back(ForeignColumn{kind, {}}).column;
}

bool EventDecoder::readDirectory(ByteReader &payload) {
  struct Extent {
    Column *column;
    uint64_t bytes;
  };
  std::vector<Extent> extents;
  const uint64_t count = payload.varint();
  if (count > kMaxColumns) // each column that this version does not know costs a step for each event
    return false;
  for (uint64_t i = 0; i < count && !payload.failed(); ++i) {
    const auto kind = payload.fixed<uint8_t>();
    const auto field = payload.fixed<uint8_t>();
    const auto encoding = payload.fixed<uint8_t>();
    const uint64_t sizeOrValue = payload.varint();
    if (encoding >= kEncodings)
      return false;
    Column &column = columnFor(kind, field);
    column.encoding = static_cast<Encoding>(encoding);
    if (column.encoding == Encoding::Constant)
      column.value = sizeOrValue;
    else
      extents.push_back({&column, sizeOrValue});
  }
  for (const Extent &extent : extents)
    extent.column->reader = ByteReader(payload.bytes(extent.bytes));
  const Encoding time = columns_.at[0][kTimeColumn].encoding;
  sorted_ = time == Encoding::Rise || time == Encoding::Constant;
  return !payload.failed();
}

inline uint64_t EventDecoder::Column::next(Addresses &addresses) {
  if (encoding == Encoding::Constant)
    return value;
  const uint64_t coded = reader.varint();
  switch (encoding) {
  case Encoding::Rise:
    return value += coded;
  case Encoding::Delta:
    return value += unzigzag(coded);
  case Encoding::Listed:
    if (coded == 0)
      return list.emplace_back(reader.varint());
    return coded <= list.size() ? list[coded - 1] : 0;
  case Encoding::Recalled: {
    const uint64_t address = coded == 0 ? addresses.last_new += unzigzag(reader.varint()) : addresses.recall.ago(coded);
    addresses.recall.mention(address);
    return address;
  }
  default:
    return coded;
  }
}

bool EventDecoder::next(abi::AnyEvent &event) {
  Column *const header = columns_.at[0];
  while (left_ > 0) {
    --left_;
    abi::EventHeader fixed = headerOf(header[kTagColumn].next(addresses_));
    fixed.time = header[kTimeColumn].next(addresses_);
    fixed.site = static_cast<uint32_t>(header[kSiteColumn].next(addresses_));
    if (header[kTagColumn].reader.failed() || header[kTimeColumn].reader.failed())
      return false;
    const bool known = makeEvent(fixed, event, [&](auto &typed) {
      Column *column = columns_.at[static_cast<unsigned>(fixed.kind)];
      abi::visitFields(typed, [&](const char *, abi::Repr, auto &value) {
        value = static_cast<std::remove_reference_t<decltype(value)>>((column++)->next(addresses_));
      });
    });
    for (ForeignColumn &foreign : foreign_)
      if (foreign.kind == static_cast<uint8_t>(fixed.kind))
        foreign.column.next(addresses_);
    if (known)
      return true;
    ++unknown_;
  }
  return false;
}

} // namespace msleaks::analysis::inline trace
