// Functions that build events for tests, one event each.
#pragma once

#include "analysis/trace/trace_reader.h"
#include "msleaks/abi/events.h"
#include "msleaks/abi/handles.h"

namespace msleaks::test {

struct Where {
  uint32_t process = 1, stream = 0;
  abi::Heap heap = abi::Heap::Host;
  uint16_t flags = 0;
  uint32_t site = 0;
  uint8_t device = 0;
};

template <class Event>
analysis::StreamEvent make(uint64_t time_ns, const Where &where, uint64_t first, uint64_t second) {
  Event event{};
  event.header = {Event::kKind, where.heap, where.device, where.flags, where.site, time_ns};
  auto any = abi::AnyEvent::from(event);
  any.slots[0].payload[0] = first;
  any.slots[0].payload[1] = second;
  return {where.process, where.stream, any};
}

inline auto alloc(uint64_t time_ns, uint64_t address, uint64_t size, const Where &where = {}) {
  return make<abi::AllocEvent>(time_ns, where, address, size);
}
inline auto free(uint64_t time_ns, uint64_t address, const Where &where = {}, uint64_t size = 0) {
  return make<abi::FreeEvent>(time_ns, where, address, size);
}
inline auto retarget(uint64_t time_ns, uint64_t address, const Where &where = {}) {
  return make<abi::RetargetEvent>(time_ns, where, address, 0);
}
inline auto owned(uint64_t time_ns, uint64_t address, uint64_t label, const Where &where = {}) {
  return make<abi::OwnedEvent>(time_ns, where, address, label);
}
inline auto retain(uint64_t time_ns, uint64_t address, const Where &where = {}) {
  return make<abi::RetainEvent>(time_ns, where, address, 0);
}
inline auto opened(uint64_t time_ns, abi::HandleKind kind, uint64_t handle, const Where &where = {}) {
  return make<abi::OpenedEvent>(time_ns, where, handle, static_cast<uint64_t>(kind));
}
inline auto closed(uint64_t time_ns, abi::HandleKind kind, uint64_t handle, const Where &where = {}) {
  return make<abi::ClosedEvent>(time_ns, where, handle, static_cast<uint64_t>(kind));
}
inline auto protect(uint64_t time_ns, uint64_t address, uint64_t size, uint16_t flags, uint32_t process = 1) {
  return make<abi::ProtectEvent>(time_ns, {.process = process, .heap = abi::Heap::Mapping, .flags = flags}, address,
                                 size);
}
inline auto allocFailed(uint64_t time_ns, uint64_t size, const Where &where = {}) {
  return make<abi::AllocFailedEvent>(time_ns, where, size, 12);
}

// Builds the event of a mapping at this address, which maps the shared object `object` from `offset` on.
inline auto shared(uint64_t time_ns, uint64_t address, uint64_t size, uint64_t object, uint64_t offset = 0,
                   const Where &where = {.heap = abi::Heap::Mapping}) {
  const abi::SharedEvent event{{abi::EventKind::Shared, where.heap, 0, where.flags, where.site, time_ns},
                               address,
                               size,
                               abi::kContinuationTag,
                               25,
                               object,
                               offset};
  return analysis::StreamEvent{where.process, where.stream, abi::AnyEvent::from(event)};
}

inline auto launch(uint64_t time_ns, uint16_t flags, const Where &where = {.heap = abi::Heap::Device}) {
  abi::LaunchEvent event{};
  event.header = {abi::EventKind::Launch, where.heap, where.device, flags, where.site, time_ns};
  event.continuation = abi::kContinuationTag;
  return analysis::StreamEvent{where.process, where.stream, abi::AnyEvent::from(event)};
}
inline auto access(uint64_t time_ns, uint64_t address, const Where &where = {.heap = abi::Heap::Device}) {
  return make<abi::AccessEvent>(time_ns, where, address, 0);
}
inline auto copy(uint64_t time_ns, uint64_t destination, uint64_t source,
                 const Where &where = {.heap = abi::Heap::Device}, uint64_t size = 8) {
  abi::CopyEvent event{};
  event.header = {abi::EventKind::Copy, where.heap, where.device, where.flags, where.site, time_ns};
  event.destination = destination;
  event.source = source;
  event.continuation = abi::kContinuationTag;
  event.size = size;
  return analysis::StreamEvent{where.process, where.stream, abi::AnyEvent::from(event)};
}
inline auto fill(uint64_t time_ns, uint64_t destination, const Where &where = {.heap = abi::Heap::Device},
                 uint64_t size = 8) {
  abi::SetEvent event{};
  event.header = {abi::EventKind::Set, where.heap, where.device, where.flags, where.site, time_ns};
  event.destination = destination;
  event.size = size;
  event.continuation = abi::kContinuationTag;
  return analysis::StreamEvent{where.process, where.stream, abi::AnyEvent::from(event)};
}

// Builds an event that maps device addresses to the beginning of a physical block. If `block` is 0, the event unmaps
// the addresses.
inline auto mapped(uint64_t time_ns, uint64_t address, uint64_t size, uint64_t block,
                   const Where &where = {.heap = abi::Heap::Device}, uint64_t offset = 0) {
  const abi::MappedEvent event{{abi::EventKind::Mapped, where.heap, where.device, where.flags, where.site, time_ns},
                               address,
                               size,
                               abi::kContinuationTag,
                               block,
                               offset,
                               0};
  return analysis::StreamEvent{where.process, where.stream, abi::AnyEvent::from(event)};
}

inline auto epoch(uint64_t time_ns, uint64_t enabled) {
  return make<abi::EpochEvent>(time_ns, {.process = analysis::kSessionProcess}, 2, enabled);
}

} // namespace msleaks::test
