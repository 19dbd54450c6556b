// Declares the events as C++ types. The types are expanded from events.def, heaps.def and event_flags.def.
//
// A ring is an array of 32-byte slots, and an event takes one or two slots. The first byte of each slot is its kind. A
// slot that continues an event has the kind Continuation. So a reader can begin in the middle of a ring and find the
// next event.
//
//   bit    0..7  8..11  12..19   20..31  32..63  64..127   128..255
//        +------+------+--------+--------+------+---------+---------------------+
//   slot | kind | heap | device | flags  | site | time    | 16 bytes of fields  |
//        +------+------+--------+--------+------+---------+---------------------+
//   next | 255  | 0 ............................| 24 bytes of fields            |
//        +------+-------------------------------+-------------------------------+
//
// A trace stores kind, heap and device in one byte each, and then the flags, as the first version of this layout did
// (docs/trace-format.md).
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace msleaks::abi {

enum class Heap : uint8_t {
#define MSL_HEAP(name, text, physical, doc) name,
#include "msleaks/abi/heaps.def"
  Count
};

enum class EventKind : uint8_t {
  None = 0,
#define MSL_EVENT(name, number, slots, doc) name = number,
#include "msleaks/abi/events.def"
  Continuation = 255
};

enum EventFlag : uint16_t {
#define MSL_EVENT_FLAG(name, bit, text, doc) k##name = 1u << (bit),
#include "msleaks/abi/event_flags.def"
};
inline constexpr unsigned kFlagBits = 12;
#define MSL_EVENT_FLAG(name, bit, text, doc) static_assert((bit) < kFlagBits);
#include "msleaks/abi/event_flags.def"

// The meaning of a field's value. It decides how the codec encodes the value, and how the exporters print it.
enum class Repr : uint8_t { Address, Bytes, Count, Handle, Dimension, Label };

struct EventHeader {
  EventKind kind : 8;
  Heap heap : 4;
  uint32_t device : 8;        // ordinal within the API; 0 also for memory without a device; a sample: python_sample.h
  uint32_t flags : kFlagBits; // EventFlag bits
  uint32_t site;              // site number in this process (below); 0 = not known
  uint64_t time;              // in a ring: ticks of the session's clock; in a trace: CLOCK_MONOTONIC in ns

  EventHeader() = default;
  constexpr EventHeader(EventKind eventKind, Heap itsHeap, uint32_t deviceOrdinal, uint32_t flagBits,
                        uint32_t siteNumber, uint64_t ticks)
      : kind(eventKind), heap(itsHeap), device(deviceOrdinal & 0xff), flags(flagBits & ((1u << kFlagBits) - 1)),
        site(siteNumber), time(ticks) {}
};
static_assert(sizeof(EventHeader) == 16 && static_cast<unsigned>(Heap::Count) <= 16);

// The layout of the header's fields in the first word of an event.
inline constexpr unsigned kHeapShift = 8, kDeviceShift = 12, kFlagsShift = 20, kSiteShift = 32;
constexpr uint64_t firstWord(EventKind kind, Heap heap, uint32_t device, uint32_t flags, uint32_t site) {
  return static_cast<uint64_t>(kind) | static_cast<uint64_t>(heap) << kHeapShift | uint64_t{device} << kDeviceShift |
         uint64_t{flags} << kFlagsShift | uint64_t{site} << kSiteShift;
}

// The highest bits of a site number determine its class:
//   00…  a row of an armed unit's table: UnitDefinition::base + row
//   01…  a path: the number of its innermost node, PathNode (session.h, docs/call-paths.md)
//   1…   a caller of a hook: Caller (session.h)
inline constexpr uint32_t kCallerSite = 0x8000'0000u;
inline constexpr uint32_t kPathSite = 0x4000'0000u;

struct Slot {
  EventHeader header;
  uint64_t payload[2];
};
inline constexpr uint64_t kSlotBytes = 32;
inline constexpr unsigned kMaxEventSlots = 2;
static_assert(sizeof(Slot) == kSlotBytes && alignof(Slot) == 8);

inline constexpr uint64_t kContinuationTag = static_cast<uint8_t>(EventKind::Continuation); // the kind is byte 0

#define MSL_EVENT(name, number, slots, doc)                                                                            \
  struct name##Event {                                                                                                 \
    static constexpr EventKind kKind = EventKind::name;                                                                \
    static constexpr unsigned kSlots = slots;                                                                          \
    EventHeader header;
#define MSL_FIELD(type, field, repr, doc) type field;
#define MSL_CONTINUE() uint64_t continuation;
#define MSL_EVENT_END(name)                                                                                            \
  }                                                                                                                    \
  ;                                                                                                                    \
  static_assert(sizeof(name##Event) == name##Event::kSlots * kSlotBytes && name##Event::kSlots <= kMaxEventSlots);     \
  static_assert(std::is_trivially_copyable_v<name##Event>);
#include "msleaks/abi/events.def"

// Calls f(name, repr, value&) for each field after the header, in declaration order.
#define MSL_EVENT(name, number, slots, doc)                                                                            \
  template <class Event, class F>                                                                                      \
    requires std::is_same_v<std::remove_const_t<Event>, name##Event>                                                   \
  constexpr void visitFields(Event &event, F &&f) {
#define MSL_FIELD(type, field, repr, doc) f(#field, Repr::repr, event.field);
#define MSL_EVENT_END(name) }
#include "msleaks/abi/events.def"

// Returns the number of slots of an event of this kind, or 0 for a kind that does not exist in this version.
constexpr unsigned slotsOf(EventKind kind) {
  switch (kind) {
#define MSL_EVENT(name, number, slots, doc)                                                                            \
  case EventKind::name:                                                                                                \
    return slots;
#include "msleaks/abi/events.def"
  default:
    return 0;
  }
}

constexpr bool isContinuation(const Slot &slot) { return slot.header.kind == EventKind::Continuation; }

// Whether a whole event of a known kind begins at `slots`. `available` is the number of slots that may be read, at
// least 1.
constexpr bool isWholeEvent(const Slot *slots, uint64_t available) {
  const unsigned count = slotsOf(slots[0].header.kind);
  if (count == 0 || count > available)
    return false;
  for (unsigned i = 1; i < count; ++i)
    if (!isContinuation(slots[i]))
      return false;
  return true;
}

// One event of any kind, by value. `as<AllocEvent>()` is valid only if header().kind is EventKind::Alloc.
struct AnyEvent {
  Slot slots[kMaxEventSlots];

  const EventHeader &header() const { return slots[0].header; }
  EventHeader &header() { return slots[0].header; }

  template <class Event> Event as() const {
    Event event;
    std::memcpy(&event, slots, sizeof event);
    return event;
  }
  template <class Event> static AnyEvent from(const Event &event) {
    AnyEvent any{};
    std::memcpy(any.slots, &event, sizeof event);
    return any;
  }
};

// Converts the event to the type of its kind, calls f with it and returns true. If the kind is unknown, returns false
// and does not call f.
template <class F> constexpr bool dispatch(const AnyEvent &event, F &&f) {
  switch (event.header().kind) {
#define MSL_EVENT(name, number, slots, doc)                                                                            \
  case EventKind::name:                                                                                                \
    f(event.as<name##Event>());                                                                                        \
    return true;
#include "msleaks/abi/events.def"
  default:
    return false;
  }
}

constexpr const char *nameOf(EventKind kind) {
  switch (kind) {
#define MSL_EVENT(name, number, slots, doc)                                                                            \
  case EventKind::name:                                                                                                \
    return #name;
#include "msleaks/abi/events.def"
  default:
    return "?";
  }
}

constexpr const char *nameOf(Heap heap) {
  switch (heap) {
#define MSL_HEAP(name, text, physical, doc)                                                                            \
  case Heap::name:                                                                                                     \
    return text;
#include "msleaks/abi/heaps.def"
  default:
    return "?";
  }
}

constexpr bool isPhysical(Heap heap) {
  switch (heap) {
#define MSL_HEAP(name, text, physical, doc)                                                                            \
  case Heap::name:                                                                                                     \
    return physical;
#include "msleaks/abi/heaps.def"
  default:
    return false;
  }
}

// Two heaps have the same address space if an address means the same block in both. In different address spaces, one
// address may mean different blocks. For example, a cl_mem handle may also be the address of a host block. A block of
// a pool may have the same address as the block that contains the pool.
enum class AddressSpace : uint8_t { Host, Mapping, Accelerator, Pool, Registered, Count };

constexpr AddressSpace spaceOf(Heap heap) {
  switch (heap) {
  case Heap::Host:
  case Heap::Python: // these blocks are from malloc, and free() gets no other address
    return AddressSpace::Host;
  case Heap::Mapping:
    return AddressSpace::Mapping;
  case Heap::Pool:
    return AddressSpace::Pool;
  case Heap::Registered:
    return AddressSpace::Registered;
  default:
    return AddressSpace::Accelerator; // cudaFree also frees managed memory, so all heaps of a driver have one space
  }
}

} // namespace msleaks::abi
