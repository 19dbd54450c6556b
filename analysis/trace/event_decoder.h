// The payload of an Events chunk -> events, a block at a time, so that an open chunk costs its payload and little more.
#pragma once

#include "analysis/trace/bytes.h"
#include "analysis/trace/event_columns.h"
#include "analysis/trace/recall.h"

#include <cstdint>
#include <deque>
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
  struct Addresses {
    RecallReader recall;
    uint64_t last_new = 0;
  };
  struct Column {
    Encoding encoding = Encoding::Constant;
    uint64_t value = 0; // Constant: of all; Delta and Rise: the one before
    ByteReader reader;
    std::vector<uint64_t> list;

    void restart() {
      encoding = Encoding::Constant;
      value = 0;
      reader = ByteReader();
      list.clear();
    }
    uint64_t next(Addresses &addresses);
  };
  // A column of a newer version: read along, because other columns may count on it, and not used.
  struct ForeignColumn {
    uint8_t kind;
    Column column;
  };
  bool readDirectory(ByteReader &payload);
  Column &columnFor(uint8_t kind, uint8_t field);

  ColumnTable<Column> columns_;
  Addresses addresses_;
  std::deque<ForeignColumn> foreign_; // by kind and field, as in the directory
  uint32_t left_ = 0, unknown_ = 0;
  bool sorted_ = true;
};

} // namespace msleaks::analysis::trace
