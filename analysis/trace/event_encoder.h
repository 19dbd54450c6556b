// Slots of a stream -> the payload of an Events chunk (docs/trace-format.md, "Events").
#pragma once

#include "analysis/trace/bytes.h"
#include "analysis/trace/event_columns.h"
#include "analysis/trace/recall.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace msleaks::analysis::trace {

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

} // namespace msleaks::analysis::trace
