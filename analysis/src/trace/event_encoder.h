// Slots of a stream -> the payload of an Events chunk (docs/trace-format.md, "Events").
#pragma once

#include "trace/bytes.h"
#include "trace/event_columns.h"

#include <cstdint>
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
  class Column {
  public:
    void clear() {
      bytes_.clear();
      first_ = previous_ = differs_ = 0;
      used_ = false;
    }
    void put(Encoding encoding, uint64_t value);
    bool used() const { return used_; }
    // Writes the column's row of the directory, and its values unless the row says them already.
    void finish(unsigned kind, unsigned field, ByteWriter &directory, ByteWriter &values) const;

  private:
    ByteWriter bytes_;
    uint64_t first_ = 0, previous_ = 0, differs_ = 0;
    Encoding encoding_ = Encoding::Plain;
    bool used_ = false;
  };

  uint32_t tagOf(const abi::EventHeader &header);

  ColumnTable<Column> columns_;
  std::vector<uint32_t> tags_; // first four bytes of the headers, in order of appearance
  ByteWriter payload_, values_;
};

} // namespace msleaks::analysis::trace
