// Tests recording on a full file system. The runtime must count the events that it cannot record, and must never cause
// a SIGBUS.
#include "session_fixture.h"

#include "msleaks/runtime/caller.h"
#include "msleaks/runtime/record.h"

#include <csignal>
#include <sys/mount.h>
#include <sys/resource.h>

namespace msleaks::test {
namespace {

// A new tmpfs of `kib` KiB. mounted() is false if the test has no right to mount.
class SmallFileSystem {
public:
  explicit SmallFileSystem(unsigned kib) {
    std::string name = "/tmp/msleaks-small-XXXXXX";
    path_ = mkdtemp(name.data());
    mounted_ = mount("msleaks-test", path_.c_str(), "tmpfs", 0, ("size=" + std::to_string(kib) + "k").c_str()) == 0;
  }
  ~SmallFileSystem() {
    if (mounted_)
      umount2(path_.c_str(), MNT_DETACH);
    std::filesystem::remove_all(path_);
  }
  SmallFileSystem(const SmallFileSystem &) = delete;
  SmallFileSystem &operator=(const SmallFileSystem &) = delete;
  bool mounted() const { return mounted_; }
  const std::string &path() const { return path_; }

private:
  std::string path_;
  bool mounted_;
};

constexpr char kSkipped[] = "skipped: mounting a small tmpfs needs root";

void recordMany(uint64_t count) {
  for (uint64_t i = 0; i < count; ++i)
    runtime::recordAlloc(abi::Heap::Host, 0, 1, i, 0);
}

TEST(Faults, WithoutRoomForARingOfItsSizeAThreadGetsASmallOne) {
  const SmallFileSystem small(200);
  if (!small.mounted())
    GTEST_SKIP() << kSkipped;
  const SessionDirectory session({.on_full = abi::OnFull::Drop}, small.path());
  ASSERT_EQ(session.runChild([] { recordMany(10'000); }), 0);
  const auto arenas = session.arenas();
  ASSERT_EQ(arenas.size(), 1u);
  EXPECT_EQ(arenas[0]->ring(0).capacity, 512u);
  const Account account = sum(arenas);
  EXPECT_EQ(account.produced, 10'000u);
  EXPECT_EQ(account.produced, session.drain().size() + account.dropped);
}

TEST(Faults, WithoutRoomForAnyRingEventsAreCounted) {
  const SmallFileSystem small(28); // room for the control page and the first pages of the arena, but not for a ring
  if (!small.mounted())
    GTEST_SKIP() << kSkipped;
  const SessionDirectory session({}, small.path());
  ASSERT_EQ(session.runChild([] { recordMany(10'000); }), 0);
  const auto arenas = session.arenas();
  ASSERT_EQ(arenas.size(), 1u);
  EXPECT_EQ(arenas[0]->ringCount(), 0u);
  EXPECT_EQ(arenas[0]->header().dropped_no_ring.load(), 10'000u);
}

TEST(Faults, WithoutRoomForAnArenaTheProcessIsInert) {
  const SmallFileSystem small(4);
  if (!small.mounted())
    GTEST_SKIP() << kSkipped;
  const SessionDirectory session({}, small.path());
  EXPECT_EQ(session.runChild([] {
    recordMany(10'000);
    _exit(__msl_process.arena == nullptr && __msl_enabled->load() == 0 ? 0 : 1);
  }),
            0);
}

TEST(Faults, ManyThreadsAndLittleRoom) {
  const SmallFileSystem small(400);
  if (!small.mounted())
    GTEST_SKIP() << kSkipped;
  const SessionDirectory session({.on_full = abi::OnFull::Drop, .ring_kib = 64, .ring_max_kib = 256}, small.path());
  constexpr uint64_t kThreads = 30, kCount = 5000;
  ASSERT_EQ(session.runChild([] {
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < kThreads; ++t)
      threads.emplace_back([] { recordMany(kCount); });
    for (std::thread &thread : threads)
      thread.join();
  }),
            0);
  const Account account = sum(session.arenas());
  EXPECT_EQ(account.produced, kThreads * kCount);
  EXPECT_EQ(account.produced, session.drain().size() + account.dropped);
}

TEST(Faults, WithoutRoomForTheTableOfCallersThereAreNoSites) {
  const SmallFileSystem small(200);
  if (!small.mounted())
    GTEST_SKIP() << kSkipped;
  const SessionDirectory session({.ring_kib = 16, .ring_max_kib = 16}, small.path());
  EXPECT_EQ(
      session.runChild([] { _exit(runtime::callerSite(0x1000) == 0 && runtime::callerSite(0x2000) == 0 ? 0 : 1); }), 0);
}

// This test needs no right to mount: a limit on the size of files makes fallocate() fail.
TEST(Faults, AFallocateThatFailsIsCounted) {
  const SessionDirectory session;
  ASSERT_EQ(session.runChild([] {
    recordMany(1);
    const rlimit small{2 << 20, 2 << 20};
    setrlimit(RLIMIT_FSIZE, &small);
    std::vector<std::thread> threads;
    for (int t = 0; t < 10; ++t)
      threads.emplace_back([] { recordMany(100); });
    for (std::thread &thread : threads)
      thread.join();
  }),
            0);
  const Account account = sum(session.arenas());
  EXPECT_EQ(account.produced, 1001u);
  EXPECT_GT(session.arenas()[0]->header().dropped_no_ring.load(), 0u);
  EXPECT_EQ(account.produced, session.drain().size() + account.dropped);
}

// A SIGXFSZ of the program that was pending before the runtime's call must stay pending.
TEST(Faults, ASizeSignalThatWasPendingStays) {
  const SessionDirectory session;
  EXPECT_EQ(session.runChild([] {
    sigset_t set, pending;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    const rlimit none{0, 0};
    setrlimit(RLIMIT_FSIZE, &none);
    const auto isPending = [&] { return sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1; };
    recordMany(1);
    const bool taken = !isPending() && __msl_process.arena == nullptr;
    raise(SIGXFSZ);
    std::thread([] { recordMany(1); }).join();
    _exit(taken && isPending() ? 0 : 1);
  }),
            0);
}

TEST(Faults, ASessionThatVanishesIsNoError) {
  const SessionDirectory session;
  EXPECT_EQ(session.runChild([&session] {
    recordMany(10);
    for (const auto &file : std::filesystem::directory_iterator(session.path()))
      if (file.path().extension() != "")
        std::filesystem::remove(file.path());
    std::thread([] { recordMany(10); }).join();
    recordMany(1'000'000); // the ring is full, so the runtime needs a larger ring
  }),
            0);
}

// A daemon may close all descriptors, also those of the runtime. All later events must still be recorded.
TEST(Faults, ClosedDescriptorsAreNoError) {
  const SessionDirectory session({.ring_kib = 16, .ring_max_kib = 64});
  int status = -1;
  const auto events = session.collectFrom(session.startChild([] {
    recordMany(10);
    for (int fd = 0; fd < 100; ++fd)
      close(fd);
    recordMany(10'000);
    std::thread([] { recordMany(10); }).join();
  }),
                                          &status);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(events.size(), 10'020u);
}

TEST(Faults, NoDescriptorStaysOpen) {
  const SessionDirectory session;
  EXPECT_EQ(session.runChild([] {
    const int before = dup(0);
    close(before);
    recordMany(100'000);
    runtime::callerSite(0x1000);
    const int after = dup(0);
    _exit(before == after ? 0 : 1);
  }),
            0);
}

} // namespace
} // namespace msleaks::test
