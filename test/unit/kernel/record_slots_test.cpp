// Tests how records of the kernel become events.
#include "kernel/record_slots.h"

#include <gtest/gtest.h>

namespace msleaks::kernel {
namespace {

template <class Record> std::vector<abi::Slot> slotsOf(const Record &record, size_t bytes = sizeof(Record)) {
  std::vector<abi::Slot> slots;
  appendEvents(record.head, bytes, slots);
  return slots;
}

template <class Record> Record recordOf(RecordKind kind) {
  Record record{};
  record.head = {kRecordVersion, static_cast<unsigned short>(kind), 3, {11, 12}, 1000, 1500};
  return record;
}

template <class Event> Event eventAt(const std::vector<abi::Slot> &slots, size_t at) {
  abi::AnyEvent any{{slots[at], at + 1 < slots.size() ? slots[at + 1] : abi::Slot{}}};
  EXPECT_EQ(any.header().kind, Event::kKind);
  EXPECT_TRUE(abi::isWholeEvent(&slots[at], slots.size() - at));
  return any.as<Event>();
}

} // namespace

// The arguments of a call come before it, and both have the time of its end.
TEST(RecordSlots, ACallHasItsArguments) {
  auto record = recordOf<SyscallRecord>(kSyscallRecord);
  for (unsigned i = 0; i < 6; ++i)
    record.arguments[i] = 10 * (i + 1);
  record.result = -2;
  record.call = 0x1'0000'0007;
  record.number = 257;
  record.status = kReturned;
  const auto slots = slotsOf(record);
  ASSERT_EQ(slots.size(), 4u);
  const auto arguments = eventAt<abi::SyscallArgumentsEvent>(slots, 0);
  EXPECT_EQ(arguments.header.time, 1500u);
  EXPECT_EQ(arguments.first, 10u);
  EXPECT_EQ(arguments.second, 20u);
  EXPECT_EQ(arguments.third, 30u);
  EXPECT_EQ(arguments.fourth, 40u);
  EXPECT_EQ(arguments.fifth, 50u);
  const auto call = eventAt<abi::SyscallEvent>(slots, 2);
  EXPECT_EQ(call.header.time, 1500u);
  EXPECT_EQ(call.duration_ns, 500u);
  EXPECT_EQ(static_cast<int64_t>(call.result), -2);
  EXPECT_EQ(call.of_pid, 11u);
  EXPECT_EQ(call.of_tid, 12u);
  EXPECT_EQ(call.call, 7u);
  EXPECT_EQ(call.number, 257u);
  EXPECT_EQ(call.sixth, 60u);
}

TEST(RecordSlots, ACallWithoutArgumentsIsOneEvent) {
  auto record = recordOf<SyscallRecord>(kSyscallRecord);
  record.arguments[5] = 6;
  EXPECT_EQ(eventAt<abi::SyscallEvent>(slotsOf(record), 0).sixth, 6u);
}

TEST(RecordSlots, FaultsAndSleepsKeepTheirFields) {
  auto fault = recordOf<FaultRecord>(kFaultRecord);
  fault.address = 0x1234;
  fault.instruction = 0x5678;
  fault.access = 6;
  const auto faulted = eventAt<abi::FaultEvent>(slotsOf(fault), 0);
  EXPECT_EQ(faulted.address, 0x1234u);
  EXPECT_EQ(faulted.instruction, 0x5678u);
  EXPECT_EQ(faulted.access, 6u);
  EXPECT_EQ(faulted.duration_ns, 500u);
  auto off = recordOf<OffCpuRecord>(kOffCpuRecord);
  off.queue_ns = 70;
  off.next_tid = 8;
  off.state = 1;
  off.waker = 9;
  const auto slept = eventAt<abi::OffCpuEvent>(slotsOf(off), 0);
  EXPECT_EQ(slept.duration_ns, 500u);
  EXPECT_EQ(slept.queue_ns, 70u);
  EXPECT_EQ(slept.next_tid, 8u);
  EXPECT_EQ(slept.state, 1u);
  EXPECT_EQ(slept.waker, 9u);
}

// A record whose end is before its begin, as after a change of the clock, has no negative duration.
TEST(RecordSlots, NoDurationIsNegative) {
  auto record = recordOf<SyscallRecord>(kSyscallRecord);
  record.head.end_ns = 900;
  EXPECT_EQ(eventAt<abi::SyscallEvent>(slotsOf(record), 0).duration_ns, 0u);
}

TEST(RecordSlots, CutAndUnknownRecordsAreNoEvents) {
  EXPECT_TRUE(slotsOf(recordOf<SyscallRecord>(kSyscallRecord), sizeof(SyscallRecord) - 1).empty());
  EXPECT_TRUE(slotsOf(recordOf<SyscallRecord>(static_cast<RecordKind>(200))).empty());
}

} // namespace msleaks::kernel
