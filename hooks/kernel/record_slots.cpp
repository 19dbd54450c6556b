#include "kernel/record_slots.h"

#include <algorithm>
#include <cstring>

namespace msleaks::kernel {
namespace {

template <class Event> void append(const Event &event, std::vector<abi::Slot> &slots) {
  const abi::AnyEvent any = abi::AnyEvent::from(event);
  slots.push_back(any.slots[0]);
  if constexpr (Event::kSlots == 2) {
    slots.push_back(any.slots[1]);
    slots.back().header.kind = abi::EventKind::Continuation;
  }
}

template <class Event> abi::EventHeader headerOf(const RecordHead &head) {
  return {Event::kKind, abi::Heap::Host, 0, 0, 0, head.end_ns};
}

uint64_t durationOf(const RecordHead &head) { return head.end_ns - std::min(head.begin_ns, head.end_ns); }

void convert(const SyscallRecord &record, std::vector<abi::Slot> &slots) {
  const auto *given = record.arguments;
  if (std::any_of(given, given + 5, [](uint64_t value) { return value != 0; }))
    append(abi::SyscallArgumentsEvent{headerOf<abi::SyscallArgumentsEvent>(record.head), given[0], given[1],
                                      abi::kContinuationTag, given[2], given[3], given[4]},
           slots);
  append(abi::SyscallEvent{headerOf<abi::SyscallEvent>(record.head), static_cast<uint64_t>(record.result),
                           durationOf(record.head), abi::kContinuationTag, record.head.who.pid, record.head.who.tid,
                           static_cast<uint32_t>(record.call), record.number, record.status, given[5]},
         slots);
}

void convert(const TaskRecord &record, std::vector<abi::Slot> &slots) {
  uint64_t name[2];
  std::memcpy(name, record.name, sizeof name);
  append(abi::TaskEvent{headerOf<abi::TaskEvent>(record.head), name[0], name[1], abi::kContinuationTag,
                        record.head.who.pid, record.head.who.tid, record.parent, 0},
         slots);
}

void convert(const FaultRecord &record, std::vector<abi::Slot> &slots) {
  append(abi::FaultEvent{headerOf<abi::FaultEvent>(record.head), record.address, record.instruction,
                         abi::kContinuationTag, record.head.who.pid, record.head.who.tid, record.access,
                         durationOf(record.head)},
         slots);
}

void convert(const OffCpuRecord &record, std::vector<abi::Slot> &slots) {
  append(abi::OffCpuEvent{headerOf<abi::OffCpuEvent>(record.head), durationOf(record.head), record.queue_ns,
                          abi::kContinuationTag, record.head.who.pid, record.head.who.tid, record.next_tid,
                          record.state, record.waker},
         slots);
}

void convert(const BlockIoRecord &record, std::vector<abi::Slot> &slots) {
  append(abi::BlockIoEvent{headerOf<abi::BlockIoEvent>(record.head), durationOf(record.head), record.size,
                           abi::kContinuationTag, record.head.who.pid, record.head.who.tid, record.disk,
                           record.operation, record.sector},
         slots);
}

void convert(const PciRecord &record, std::vector<abi::Slot> &slots) {
  append(abi::PciConfigEvent{headerOf<abi::PciConfigEvent>(record.head), record.value, durationOf(record.head),
                             abi::kContinuationTag, record.head.who.pid, record.head.who.tid, record.function,
                             record.offset, record.size, record.operation},
         slots);
}

void convert(const FenceRecord &record, std::vector<abi::Slot> &slots) {
  append(abi::FenceEvent{headerOf<abi::FenceEvent>(record.head), record.context, record.sequence, abi::kContinuationTag,
                         record.head.who.pid, record.head.who.tid, durationOf(record.head), record.operation},
         slots);
}

template <class Record> void convertIfWhole(const RecordHead &head, size_t bytes, std::vector<abi::Slot> &slots) {
  if (bytes < sizeof(Record))
    return;
  Record record;
  std::memcpy(&record, &head, sizeof record);
  convert(record, slots);
}

} // namespace

void appendEvents(const RecordHead &head, size_t bytes, std::vector<abi::Slot> &slots) {
  switch (head.kind) {
  case kSyscallRecord:
    return convertIfWhole<SyscallRecord>(head, bytes, slots);
  case kTaskRecord:
    return convertIfWhole<TaskRecord>(head, bytes, slots);
  case kFaultRecord:
    return convertIfWhole<FaultRecord>(head, bytes, slots);
  case kOffCpuRecord:
    return convertIfWhole<OffCpuRecord>(head, bytes, slots);
  case kBlockIoRecord:
    return convertIfWhole<BlockIoRecord>(head, bytes, slots);
  case kPciRecord:
    return convertIfWhole<PciRecord>(head, bytes, slots);
  case kFenceRecord:
    return convertIfWhole<FenceRecord>(head, bytes, slots);
  default:
    return;
  }
}

} // namespace msleaks::kernel
