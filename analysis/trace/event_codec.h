// Converts slots of a stream to the payload of an Events chunk and back (docs/trace-format.md, "Events").
#pragma once

#include "analysis/trace/bytes.h"
#include "analysis/trace/event_columns.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

namespace msleaks::analysis::inline trace {

// The whole events at the front of a batch that fit into one chunk.
struct EventRun {
  uint32_t events = 0;
  uint32_t slots = 0;
  uint64_t first_time_ns = UINT64_MAX; // the earliest time; below it: the latest
  uint64_t last_time_ns = 0;
  bool sorted = true; // times never fall
};

// Measures the run at the front of `slots`. It ends before a slot that begins no whole event of a known kind.
EventRun measureRun(std::span<const abi::Slot> slots);

class EventEncoder {
public:
  // Returns the payload for the first run.slots slots. It is valid until the next call.
  std::span<const uint8_t> encode(std::span<const abi::Slot> slots, const EventRun &run);

private:
  // The addresses of all columns share this state: the Free of a block can then refer to the address of its Alloc.
  struct Addresses {
    RecallWriter recall;
    uint64_t last_new = 0;
  };

  class Column {
  public:
    void restart() { at_ = nullptr; }
    template <Encoding encoding> void put(uint64_t value, EventEncoder &encoder);
    bool used() const { return at_ != nullptr; }
    // Writes the column's row of the directory. Writes the values only if the row does not contain them already.
    void finish(unsigned kind, unsigned field, ByteWriter &directory, ByteWriter &values) const;

  private:
    void begin(Encoding encoding, uint64_t first, uint32_t events);
    bool constant() const;

    std::vector<uint8_t> buffer_; // large enough for all events of the chunk, so put() need not check
    uint8_t *at_ = nullptr;
    uint64_t first_ = 0, previous_ = 0;
    std::unique_ptr<ListWriter> list_;
    Encoding encoding_ = Encoding::Plain;
  };

  template <Encoding time> void putEvents(std::span<const abi::Slot> slots);

  ColumnTable<Column> columns_;
  Addresses addresses_;
  uint32_t events_ = 0; // number of events in this chunk
  ByteWriter payload_, values_;
};

// Converts the payload of an Events chunk to events, one at a time, to need little more memory than the payload.
class EventDecoder {
public:
  // Takes the payload, which must stay valid until the last event. Returns false if its directory makes no sense.
  bool open(std::span<const uint8_t> payload, uint32_t events);

  bool sorted() const { return sorted_; }
  uint32_t left() const { return left_; }
  // Returns the next event. Skips and counts events of kinds that this version does not know. Returns false at the end,
  // or if no writer can have written the payload.
  bool next(abi::AnyEvent &event);
  uint32_t unknownEvents() const { return unknown_; }

private:
  struct Addresses {
    RecallReader recall;
    uint64_t last_new = 0;
  };
  struct Column {
    Encoding encoding = Encoding::Constant;
    uint64_t value = 0; // Constant: of all events; Delta and Rise: of the event before
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
  // A column that only a newer version knows. Decodes and ignores its values: other columns may refer to its addresses.
  struct ForeignColumn {
    uint8_t kind;
    Column column;
  };
  bool readDirectory(ByteReader &payload);
  Column &columnFor(uint8_t kind, uint8_t field);

  ColumnTable<Column> columns_;
  Addresses addresses_;
  std::deque<ForeignColumn> foreign_; // in the order of the directory
  uint32_t left_ = 0, unknown_ = 0;
  bool sorted_ = true;
};

} // namespace msleaks::analysis::inline trace
