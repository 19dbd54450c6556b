// Slots of a stream -> the payload of an Events chunk (docs/trace-format.md, "Events").
#pragma once

#include "analysis/trace/bytes.h"
#include "analysis/trace/event_columns.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

namespace msleaks::analysis::inline trace {

// Whole events at the front of a batch that fit into one chunk.
struct EventRun {
  uint32_t events = 0;
  uint32_t slots = 0;
  uint64_t first_time_ns = UINT64_MAX; // earliest and latest
  uint64_t last_time_ns = 0;
  bool sorted = true; // times never fall
};

// Measures the run at the front of `slots`; it ends at something that is no whole event of a known kind.
EventRun measureRun(std::span<const abi::Slot> slots);

class EventEncoder {
public:
  // The payload for the first run.slots slots, valid until the next call.
  std::span<const uint8_t> encode(std::span<const abi::Slot> slots, const EventRun &run);

private:
  // Addresses, of whatever column: a block's end refers to its beginning.
  struct Addresses {
    RecallWriter recall;
    uint64_t last_new = 0;
  };

  class Column {
  public:
    void restart() { at_ = nullptr; }
    template <Encoding encoding> void put(uint64_t value, EventEncoder &encoder);
    bool used() const { return at_ != nullptr; }
    // Writes the column's row of the directory, and its values unless the row says them already.
    void finish(unsigned kind, unsigned field, ByteWriter &directory, ByteWriter &values) const;

  private:
    void begin(Encoding encoding, uint64_t first, uint32_t events);
    bool constant() const;

    std::vector<uint8_t> buffer_; // as large as the chunk's events can make it: put() need not look
    uint8_t *at_ = nullptr;
    uint64_t first_ = 0, previous_ = 0;
    std::unique_ptr<ListWriter> list_;
    Encoding encoding_ = Encoding::Plain;
  };

  template <Encoding time> void putEvents(std::span<const abi::Slot> slots);

  ColumnTable<Column> columns_;
  Addresses addresses_;
  uint32_t events_ = 0; // in this chunk
  ByteWriter payload_, values_;
};

// The payload of an Events chunk -> events, a block at a time, so that an open chunk costs its payload and little more.
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

} // namespace msleaks::analysis::inline trace
