// Where the values of events go: one column per field of events.def, and three for what every event has. Expanded from
// the table; no field is named here.
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

// Fields of an event kind that this version knows; 0 for a kind that it does not know.
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

// A column is named by an event kind and the number of a field in it. Kind 0 is no event: its columns hold the header.
enum HeaderColumn : unsigned { kTagColumn, kTimeColumn, kSiteColumn };

// Kind, heap, device and flags as one number: a stream has about as many different ones as it has kinds of calls. Each
// of the four had a byte in the first version of the event's header; what flags have beyond eight bits stands above.
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

// How a column's values are written. The number is in the file.
enum class Encoding : uint8_t {
  Constant = 0, // one varint, for all of them
  Plain = 1,    // a varint each
  Delta = 2,    // zigzag of the difference to the one before in the column
  Rise = 3,     // the difference itself: values never fall
  Listed = 4,   // number in the column's list of values, from 1; 0 and then the value appends to the list
  // Mentions of addresses since this one's last, from 1, counted over all columns of this encoding; 0 and then the
  // zigzag difference to the last address that was said so. Such a column is never Constant: it counts.
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

// Calls f(event) with the event that begins at `slots`, as its own type. The kind must be a known one.
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

// visitFields with the representation known at compile time: calls f.operator()<repr>(value&) for each field.
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

// Makes an event of the header's kind, lets f(event) fill its fields, and stores it. False for an unknown kind.
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

// Two ways to say a value that was there before in fewer bytes than the value: by how long ago, and by its number in a
// list. Both forget: what the writer's small table has lost is simply said in full again.

// A multiplication by 2^64 / golden ratio spreads what is regular in addresses over the upper bits.
constexpr uint32_t tableSlot(uint64_t value, unsigned bits) {
  return static_cast<uint32_t>(value * 0x9e37'79b9'7f4a'7c15u >> (64 - bits));
}

// How many mentions back a value may lie and still be recalled. Blocks die young: four times as far would find no more
// than 1 % of the addresses of a compiler's or an interpreter's run.
inline constexpr uint32_t kRecallReach = 1024;

// By how many mentions ago: addresses, which are freed soon after they are handed out and handed out soon after that.
// The last values themselves, and a table that only says where among them to look: 16 KiB in all, half of a first-level
// cache. What the table says may be long overwritten; the value there tells.
class RecallWriter {
public:
  void restart() { begin_ = count_; }
  // Mentions since the last one of this value, from 1; 0 = it must be said in full.
  uint32_t mention(uint64_t value) {
    uint16_t &place = places_[tableSlot(value, kBits)];
    const uint32_t ago = ((count_ - 1 - place) & (kRecallReach - 1)) + 1; // of the last mention that was stored there
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

// By its number in the order of appearance: sites and handles, of which there are few and which come in patterns.
class ListWriter {
public:
  void restart() {
    begin_ += listed_;
    listed_ = 0;
  }
  uint64_t size() const { return listed_; }
  // The value's number in the list, from 1; 0 = it was appended and must be said in full.
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
  uint64_t begin_ = 0, listed_ = 0; // numbers of earlier chunks are below begin_: nothing is cleared between chunks
};

} // namespace msleaks::analysis::inline trace
