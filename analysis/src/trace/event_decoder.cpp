#include "trace/event_decoder.h"

#include <algorithm>

namespace msleaks::analysis::trace {

bool EventDecoder::open(std::span<const uint8_t> content, uint32_t events) {
  columns_.forEach([](unsigned, unsigned, Column &column) { column = Column(); });
  tags_.clear();
  left_ = events;
  unknown_ = 0;
  ByteReader payload(content);
  const uint64_t tags = payload.varint();
  if (tags > payload.left() / sizeof(uint32_t))
    return false;
  for (uint64_t i = 0; i < tags; ++i)
    tags_.push_back(payload.fixed<uint32_t>());
  return readDirectory(payload);
}

bool EventDecoder::readDirectory(ByteReader &payload) {
  struct Extent {
    Column *column;
    uint64_t bytes;
  };
  std::vector<Extent> extents;
  const uint64_t count = payload.varint();
  for (uint64_t i = 0; i < count && !payload.failed(); ++i) {
    const auto kind = payload.fixed<uint8_t>();
    const auto field = payload.fixed<uint8_t>();
    const auto encoding = payload.fixed<uint8_t>();
    const uint64_t sizeOrValue = payload.varint();
    if (encoding >= kEncodings)
      return false;
    const bool known = kind < kColumnRows && field < kMaxFields;
    Column *column = known ? &columns_.at[kind][field] : nullptr;
    if (column)
      column->encoding = static_cast<Encoding>(encoding);
    if (static_cast<Encoding>(encoding) != Encoding::Constant)
      extents.push_back({column, sizeOrValue});
    else if (column)
      column->value = sizeOrValue;
  }
  for (const Extent &extent : extents) {
    const std::span<const uint8_t> values = payload.bytes(extent.bytes);
    if (extent.column)
      extent.column->reader = ByteReader(values);
  }
  const Encoding time = columns_.at[0][kTimeColumn].encoding;
  sorted_ = time == Encoding::Rise || time == Encoding::Constant;
  return !payload.failed();
}

bool EventDecoder::next(abi::AnyEvent &event) {
  Column *const header = columns_.at[0];
  while (left_ > 0) {
    --left_;
    const uint64_t tag = header[kTagColumn].next();
    if (tag >= tags_.size() || header[kTimeColumn].reader.failed())
      return false;
    abi::EventHeader fixed{};
    std::memcpy(&fixed, &tags_[tag], sizeof(uint32_t));
    fixed.site = static_cast<uint32_t>(header[kSiteColumn].next());
    fixed.time = header[kTimeColumn].next();
    const bool known = makeEvent(fixed, event, [&](auto &typed) {
      Column *column = columns_.at[static_cast<unsigned>(fixed.kind)];
      abi::visitFields(typed, [&](const char *, abi::Repr, auto &value) {
        value = static_cast<std::remove_reference_t<decltype(value)>>(column++->next());
      });
    });
    if (known)
      return true;
    ++unknown_;
  }
  return false;
}

} // namespace msleaks::analysis::trace
