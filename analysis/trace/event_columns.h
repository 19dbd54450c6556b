// The columns of events: one column for each field in events.def, and three columns for fields that all events have.
// The code is expanded from the table, and names no field.
#pragma once

#include "msleaks/abi/events.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

namespace msleaks::analysis::inline trace {

namespace detail {
constexpr unsigned kFieldCounts[] = {
#define MSL_EVENT(name, number, slots, doc) 0
#define MSL_FIELD(type, field, repr, doc) +1
#define MSL_EVENT_END(name) ,
#include "msleaks/abi/events.def"
};
constexpr unsigned kKindNumbers[] = {
#define MSL_EVENT(name, number, slots, doc) number,
#include "msleaks/abi/events.def"
};
template <unsigned N> constexpr unsigned largest(const unsigned (&values)[N]) {
  unsigned result = 0;
  for (const unsigned value : values)
    result = value > result ? value : result;
  return result;
}
} // namespace detail

inline constexpr unsigned kMaxFields = detail::largest(detail::kFieldCounts) > 3 ? detail::largest(detail::kFieldCounts)
                                                                                 : 3;
inline constexpr unsigned kColumnRows = detail::largest(detail::kKindNumbers) + 1;

// The number of fields of an event kind, or 0 for a kind that this version does not know.
constexpr unsigned fieldsOf(unsigned kind) {
  constexpr unsigned kHeaderColumns = 3;
  unsigned row = 0;
  for (const unsigned number : detail::kKindNumbers) {
    if (number == kind)
      return detail::kFieldCounts[row];
    ++row;
  }
  return kind == 0 ? kHeaderColumns : 0;
}

// An event kind and a field's number in it name a column. The columns of kind 0, which is no event, hold the header.
enum HeaderColumn : unsigned { kTagColumn, kTimeColumn, kSiteColumn };

// Packs kind, heap, device and flags into one number, because a stream uses only few combinations of them. Each of the
// four has 8 bits here. Flags may have more bits, since they are at the top.
inline uint64_t tagOf(const abi::EventHeader &header) {
  return static_cast<uint64_t>(header.kind) | static_cast<uint64_t>(header.heap) << 8 | uint64_t{header.device} << 16 |
         uint64_t{header.flags} << 24;
}
inline abi::EventHeader headerOf(uint64_t tag) {
  abi::EventHeader header{};
  header.kind = static_cast<abi::EventKind>(tag & 0xff);
  header.heap = static_cast<abi::Heap>(tag >> 8 & 0xf);
  header.device = tag >> 16 & 0xff;
  header.flags = tag >> 24 & ((1u << abi::kFlagBits) - 1);
  return header;
}

template <class Column> struct ColumnTable {
  Column at[kColumnRows][kMaxFields];

  template <class F> void forEach(F &&f) {
    for (unsigned kind = 0; kind < kColumnRows; ++kind)
      for (unsigned field = 0; field < kMaxFields; ++field)
        f(kind, field, at[kind][field]);
  }
};

// How a column's values are written. The number of the encoding is stored in the file.
enum class Encoding : uint8_t {
  Constant = 0, // one varint for all values
  Plain = 1,    // one varint for each value
  Delta = 2,    // zigzag of the difference to the value before
  Rise = 3,     // the difference to the value before: values never fall
  Listed = 4,   // the value's number in the column's list, from 1; or 0 and the value, which then joins the list
  // For addresses. How many addresses ago, in all columns of this encoding, the same address was written; 1 is the last
  // one. Or 0, then zigzag of the difference to the last address that was written in full. Never Constant.
  Recalled = 5,
};
inline constexpr unsigned kEncodings = 6;

constexpr Encoding encodingOf(abi::Repr repr) {
  switch (repr) {
  case abi::Repr::Address:
    return Encoding::Recalled;
  case abi::Repr::Handle:
    return Encoding::Listed;
  default:
    return Encoding::Plain;
  }
}

// Calls f(event) with the event that begins at `slots`, converted to its own type. Its kind must be known.
template <class F> void visitEvent(const abi::Slot *slots, F &&f) { // NOLINT: one case for each event
  switch (slots->header.kind) {
#define MSL_EVENT(name, number, slotCount, doc)                                                                        \
  case abi::EventKind::name: {                                                                                         \
    abi::name##Event event;                                                                                            \
    std::memcpy(&event, slots, sizeof event);                                                                          \
    f(event);                                                                                                          \
    return;                                                                                                            \
  }
#include "msleaks/abi/events.def"
  default:
    return;
  }
}

// Like visitFields, with the representation as template argument: calls f.operator()<repr>(value&) for each field.
#define MSL_EVENT(name, number, slotCount, doc)                                                                        \
  template <class Event, class F>                                                                                      \
    requires std::is_same_v<std::remove_const_t<Event>, abi::name##Event>                                              \
  void visitFieldsTyped(Event &event, F &&f) {
#define MSL_FIELD(type, field, repr, doc) f.template operator()<abi::Repr::repr>(event.field);
#define MSL_EVENT_END(name) }
#include "msleaks/abi/events.def"

template <class Event> Event emptyEvent(const abi::EventHeader &header) {
  Event event{};
  event.header = header;
  if constexpr (requires { event.continuation; })
    event.continuation = abi::kContinuationTag;
  return event;
}

// Makes an event of the header's kind, fills it by f(event), and stores it. Returns false for an unknown kind.
template <class F> bool makeEvent(const abi::EventHeader &header, abi::AnyEvent &out, F &&f) { // NOLINT: one case each
  switch (header.kind) {
#define MSL_EVENT(name, number, slotCount, doc)                                                                        \
  case abi::EventKind::name: {                                                                                         \
    auto event = emptyEvent<abi::name##Event>(header);                                                                 \
    f(event);                                                                                                          \
    std::memcpy(out.slots, &event, sizeof event);                                                                      \
    return true;                                                                                                       \
  }
#include "msleaks/abi/events.def"
  default:
    return false;
  }
}

// Two short forms for a value that was written before: how many values ago, or its number in a list. The writer's
// tables are small and lose values. A value that a table has lost is written in full again.

// A multiplication by 2^64 / golden ratio, so that addresses with regular distances differ in their upper bits.
constexpr uint32_t tableSlot(uint64_t value, unsigned bits) {
  return static_cast<uint32_t>(value * 0x9e37'79b9'7f4a'7c15u >> (64 - bits));
}

// A value can be recalled if it was written at most this many values ago. Blocks die young: a limit of 4096 would find
// at most 1 % more addresses in runs of compilers and interpreters.
inline constexpr uint32_t kRecallReach = 1024;

// Recalls an address by how many addresses ago it was written: allocators soon free an address, and soon return it
// again. Stores the last values, and a table of where to look for a value: 16 KiB in all, half of a first-level cache.
// A table entry may be out of date, so compares the value, too.
class RecallWriter {
public:
  void restart() { begin_ = count_; }
  // Returns how many values ago this value was written, from 1. Returns 0 if it must be written in full.
  uint32_t mention(uint64_t value) {
    uint16_t &place = places_[tableSlot(value, kBits)];
    const uint32_t ago = ((count_ - 1 - place) & (kRecallReach - 1)) + 1; // of the value that the table names
    const bool known = values_[place] == value && ago <= count_ - begin_;
    place = static_cast<uint16_t>(count_ & (kRecallReach - 1));
    values_[place] = value;
    ++count_;
    return known ? ago : 0;
  }

private:
  static constexpr unsigned kBits = 12;
  std::array<uint64_t, kRecallReach> values_{};
  std::array<uint16_t, 1 << kBits> places_{};
  uint64_t count_ = 0, begin_ = 0;
};

class RecallReader {
public:
  void restart() { values_.fill(0); }
  uint64_t ago(uint64_t mentions) const { return values_[(count_ - mentions) % kRecallReach]; }
  void mention(uint64_t value) { values_[count_++ % kRecallReach] = value; }

private:
  std::array<uint64_t, kRecallReach> values_{};
  uint64_t count_ = 0;
};

// Numbers values by their first appearance. For sites and handles: there are few of them, and they come in patterns.
class ListWriter {
public:
  void restart() {
    begin_ += listed_;
    listed_ = 0;
  }
  uint64_t size() const { return listed_; }
  // Returns the value's number in the list, from 1. Returns 0 if the value is new, and must be written in full.
  uint32_t find(uint64_t value) {
    Entry &entry = table_[tableSlot(value, kBits)];
    if (entry.value == value && entry.number > begin_)
      return static_cast<uint32_t>(entry.number - begin_);
    entry = {value, begin_ + ++listed_};
    return 0;
  }

private:
  static constexpr unsigned kBits = 11;
  struct Entry {
    uint64_t value, number;
  };
  std::array<Entry, 1 << kBits> table_{};
  uint64_t begin_ = 0, listed_ = 0; // entries of earlier chunks have numbers up to begin_, so no chunk clears the table
};

} // namespace msleaks::analysis::inline trace
