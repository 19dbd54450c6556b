// The payload of an Events chunk -> events, a block at a time, so that an open chunk costs its payload and little more.
#pragma once

#include "trace/bytes.h"
#include "trace/event_columns.h"

#include <cstdint>
#include <span>
#include <vector>

namespace msleaks::analysis::trace {

class EventDecoder {
public:
  // Takes the payload, which must stay until the last event is read. False when its directory makes no sense.
  bool open(std::span<const uint8_t> payload, uint32_t events);

  bool sorted() const { return sorted_; }
  uint32_t left() const { return left_; }
  // The next event. Kinds that this version does not know are passed over (and counted); false at the end, or when the
  // payload is not what a writer writes.
  bool next(abi::AnyEvent &event);
  uint32_t unknownEvents() const { return unknown_; }

private:
  struct Column {
    Encoding encoding = Encoding::Constant;
    uint64_t value = 0; // Constant: of all; Delta and Rise: the one before
    ByteReader reader;
    uint64_t next() {
      if (encoding == Encoding::Constant)
        return value;
      const uint64_t coded = reader.varint();
      if (encoding == Encoding::Plain)
        return coded;
      return value += encoding == Encoding::Rise ? coded : unzigzag(coded);
    }
  };
  bool readDirectory(ByteReader &payload);

  ColumnTable<Column> columns_;
  std::vector<uint32_t> tags_;
  uint32_t left_ = 0, unknown_ = 0;
  bool sorted_ = true;
};

} // namespace msleaks::analysis::trace
