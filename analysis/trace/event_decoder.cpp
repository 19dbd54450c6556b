#include "analysis/trace/event_decoder.h"

#include "analysis/trace/format.h"

#include <algorithm>

namespace msleaks::analysis::trace {

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
  if (count > kMaxColumns) // each foreign one costs a step per event
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

} // namespace msleaks::analysis::trace
