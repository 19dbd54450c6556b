// Tests that recorded events of one thread can be read back. The events have one or two slots, and the ring wraps many
// times.
#include "session_fixture.h"

#include "msleaks/runtime/note.h"
#include "msleaks/runtime/record.h"

namespace msleaks::test {
namespace {

void recordSeries(uint64_t count, uint64_t first = 0) {
  for (uint64_t i = 0; i < count; ++i)
    runtime::recordAlloc(abi::Heap::Host, 0, static_cast<uint32_t>(i % 100) + 1, first + i, i * 3);
}

abi::CopyEvent numberedCopy(uint64_t i) {
  return {{abi::EventKind::Copy, abi::Heap::Device, 0, abi::kAsync, 7, 0},
          i,
          i + 1,
          abi::kContinuationTag,
          i + 2,
          i + 3,
          i + 4};
}

TEST(Ring, EventsComeBackAsTheyWereRecorded) {
  const SessionDirectory session;
  const uint64_t begin = runtime::readTicks();
  ASSERT_EQ(session.runChild([] { recordSeries(5000); }), 0);
  const uint64_t end = runtime::readTicks();
  const auto events = session.drain();
  ASSERT_EQ(events.size(), 5000u);
  uint64_t last = begin;
  for (uint64_t i = 0; i < events.size(); ++i) {
    const auto alloc = events[i].event.as<abi::AllocEvent>();
    ASSERT_EQ(alloc.header.kind, abi::EventKind::Alloc);
    ASSERT_EQ(alloc.header.heap, abi::Heap::Host);
    ASSERT_EQ(alloc.header.flags, 0);
    ASSERT_EQ(alloc.header.site, i % 100 + 1);
    ASSERT_EQ(alloc.address, i);
    ASSERT_EQ(alloc.size, i * 3);
    ASSERT_GE(alloc.header.time, last);
    last = alloc.header.time;
  }
  EXPECT_LE(last, end);
}

TEST(Ring, AnEventOfTwoSlotsWrapsAroundTheEnd) {
  const SessionDirectory session({.ring_kib = 16, .ring_max_kib = 16});
  int status = -1;
  // An event of one slot is recorded first. So each time the ring wraps, an event of two slots lies across its end.
  const auto events = session.collectFrom(session.startChild([] {
    recordSeries(1);
    for (uint64_t i = 0; i < 5000; ++i)
      runtime::record(__msl_thread, numberedCopy(i));
  }),
                                          &status);
  ASSERT_EQ(status, 0);
  ASSERT_EQ(events.size(), 5001u);
  for (uint64_t i = 0; i < 5000; ++i) {
    const auto copy = events[i + 1].event.as<abi::CopyEvent>();
    ASSERT_EQ(copy.header.kind, abi::EventKind::Copy);
    ASSERT_EQ(copy.destination, i);
    ASSERT_EQ(copy.continuation, abi::kContinuationTag);
    ASSERT_EQ(copy.size, i + 2);
    ASSERT_EQ(copy.direction, i + 4);
  }
}

TEST(Ring, TheArenaSaysWhoseItIs) {
  const SessionDirectory session;
  const pid_t pid = session.startChild([] { recordSeries(1); });
  ASSERT_EQ(SessionDirectory::waitFor(pid), 0);
  const auto arenas = session.arenas();
  ASSERT_EQ(arenas.size(), 1u);
  const abi::ArenaHeader &header = arenas[0]->header();
  EXPECT_EQ(header.session_version, abi::kSessionVersion);
  EXPECT_EQ(header.slot_bytes, abi::kSlotBytes);
  struct stat pids{};
  ASSERT_EQ(stat("/proc/self/ns/pid", &pids), 0);
  EXPECT_EQ(header.pid_namespace, pids.st_ino);
  EXPECT_EQ(header.pid, static_cast<uint32_t>(pid));
  EXPECT_EQ(header.parent_pid, static_cast<uint32_t>(getpid()));
  EXPECT_NE(std::string(header.command).find("runtime_test"), std::string::npos);
  EXPECT_EQ(header.command[header.command_bytes - 1], 0);
  EXPECT_EQ(arenas[0]->ring(0).tid, static_cast<uint32_t>(pid));
  EXPECT_EQ(arenas[0]->ring(0).stream, 0u);
}

TEST(Ring, FilesAreTheUsersOwn) {
  const SessionDirectory session;
  ASSERT_EQ(session.runChild([] {
    umask(0777);
    recordSeries(1);
    __msl_note("the first definition makes their file");
  }),
            0);
  unsigned files = 0;
  for (const auto &file : std::filesystem::directory_iterator(session.path())) {
    EXPECT_EQ(file.status().permissions(), std::filesystem::perms(0600)) << file.path();
    ++files;
  }
  EXPECT_EQ(files, 4u);
}

TEST(Ring, KindsThatAreNotEnabledAreNotRecorded) {
  const SessionDirectory session;
  session.control().enabled = abi::enabledBit(abi::EventKind::Free);
  ASSERT_EQ(session.runChild([] {
    recordSeries(10);
    runtime::recordFree(abi::Heap::Host, 0, 1, 2, 0);
  }),
            0);
  const auto events = session.drain();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].event.header().kind, abi::EventKind::Free);
  EXPECT_EQ(sum(session.arenas()).produced, 1u);
}

TEST(Ring, ErrnoIsLeftAlone) {
  const SessionDirectory session({.ring_kib = 16, .ring_max_kib = 64});
  EXPECT_EQ(session.runChild([] {
    errno = 4711;
    recordSeries(1000);
    ::_exit(errno == 4711 ? 0 : 1);
  }),
            0);
}

TEST(Ring, MonotonicClock) {
  const SessionDirectory session;
  session.control().clock = abi::ClockKind::Monotonic;
  const uint64_t begin = nowNs();
  ASSERT_EQ(session.runChild([] { recordSeries(1); }), 0);
  const auto events = session.drain();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_GE(events[0].event.header().time, begin);
  EXPECT_LE(events[0].event.header().time, nowNs());
  EXPECT_EQ(session.arenas()[0]->header().clock, abi::ClockKind::Monotonic);
}

} // namespace
} // namespace msleaks::test
