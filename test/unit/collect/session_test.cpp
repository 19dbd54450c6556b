// Tests complete sessions: the processes that the collector finds, and how these processes ended. The collector runs in
// the test's own process, without msleaks-run.
#include "collected_session.h"

#include "analysis/trace/trace_follower.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>

namespace msleaks::test {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kEvents = 30'000;

// While this object exists, the process can open at most `count` files.
class FewFiles {
public:
  explicit FewFiles(rlim_t count) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit few{count, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewFiles() { setrlimit(RLIMIT_NOFILE, &before_); }

private:
  rlimit before_{};
};

TEST_F(SessionTest, FindsTheProcessStoresItsEventsAndClosesTheSession) {
  std::thread thread([this] { collector->run(); });
  ArenaMaker arena(session->path());
  auto ring = arena.addRing(64, 0);
  for (uint64_t i = 0; i < kEvents; ++i)
    recordPatiently(ring, i);
  EXPECT_NE(session->control().heartbeat_ns.load(), 0u);
  collector->programEnded(7 << 8);
  thread.join();
  const auto &summary = collector->summary();
  EXPECT_FALSE(summary.failure);
  EXPECT_TRUE(summary.notes.empty()) << summary.notes.front();
  EXPECT_EQ(summary.totals.stored, kEvents);
  EXPECT_EQ(summary.totals.produced, kEvents);
  ASSERT_EQ(summary.processes.size(), 1u);
  EXPECT_EQ(summary.processes[0].exit_status, 7);
  EXPECT_EQ(session->control().enabled.load(), 0u);
  EXPECT_EQ(session->control().state.load(), abi::SessionState::Closed);
  EXPECT_TRUE(session->arenas().empty());
  EXPECT_EQ(CollectedTrace(folder / "trace.mslt").addresses(), numbers(0, kEvents));
}

// GIVEN a running session WHEN its trace is followed THEN all recorded events are read in order during the session.
TEST_F(SessionTest, CanBeReadWhileItRecords) {
  std::thread thread([this] { collector->run(); });
  ArenaMaker arena(session->path());
  auto ring = arena.addRing(64, 0), other = arena.addRing(64, 1);
  auto follower = analysis::TraceFollower::open(folder / "trace.mslt");
  ASSERT_TRUE(follower);
  uint64_t recorded = 0, read = 0, last_ns = 0;
  const auto readOn = [&] {
    for (auto events = follower->next(); events && !events->empty(); events = follower->next())
      for (const auto &event : *events) {
        EXPECT_GE(event.event.header().time, last_ns);
        last_ns = event.event.header().time;
        ++read;
      }
    return read == recorded;
  };
  for (int burst = 0; burst < 3; ++burst) {
    for (uint64_t i = 0; i < 2000; ++i, ++recorded) {
      auto &to = i % 3 == 0 ? other : ring;
      while (!to.hasRoom(1))
        std::this_thread::yield();
      to.recordAlloc(recorded, analysis::readMonotonicNs());
    }
    EXPECT_TRUE(soon(readOn)) << read << " of " << recorded;
  }
  EXPECT_FALSE(follower->closed());
  const uint64_t bytes = fs::file_size(folder / "trace.mslt");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_LE(fs::file_size(folder / "trace.mslt"), bytes + 2 * 80) << "a session that rests writes nothing";
  collector->programEnded(0);
  thread.join();
  readOn();
  EXPECT_TRUE(follower->closed());
  EXPECT_TRUE(follower->damage().empty());
  EXPECT_EQ(CollectedTrace(folder / "trace.mslt").events.size(), recorded);
}

// Many short processes end before the collector finds them, as when a shell calls hundreds of programs. The collector
// must store and finish all of them, although it can open at most 64 files.
TEST_F(SessionTest, FinishesProcessesThatHaveEndedAtOnceWithFewFilesOpen) {
  constexpr uint32_t kChildren = 300;
  const FewFiles few(64);
  std::vector<uint32_t> pids(kChildren + 1);
  std::generate(pids.begin(), pids.end(), endedPid);
  std::thread thread([this] { collector->run(); });
  for (uint32_t i = 1; i <= kChildren; ++i) {
    ArenaMaker arena(folder.path(), {.pid = pids[i], .attach_ticks = i, .attach_ns = i});
    arena.addRing(16, 0).recordAlloc(i, i);
    fs::rename(arena.path(), session->path() / arena.path().filename());
  }
  const bool finished = soon([this] { return session->arenas().empty(); });
  const uint64_t then_ns = analysis::readMonotonicNs();
  collector->programEnded(0);
  thread.join();
  EXPECT_TRUE(finished) << session->arenas().size() << " arenas are kept until the session ends";
  EXPECT_TRUE(collector->summary().notes.empty()) << collector->summary().notes.front();
  EXPECT_EQ(collector->summary().processes.size(), kChildren);
  EXPECT_EQ(collector->summary().totals.stored, kChildren);
  const CollectedTrace trace(folder / "trace.mslt");
  EXPECT_EQ(trace.addresses(), numbers(1, kChildren));
  for (const auto &end : trace.reader().processEnds())
    EXPECT_LE(end.time_ns, then_ns);
}

TEST_F(SessionTest, TakesAllOfMoreProcessesThanItMayHaveFilesOpen) {
  constexpr uint32_t kChildren = 40;
  const pid_t child = fork();
  if (child == 0)
    pause();
  const uint64_t now_ns = analysis::readMonotonicNs();
  for (uint32_t i = 1; i <= kChildren; ++i) // the process still runs, so the collector must keep watching each arena
    ArenaMaker(session->path(), {.pid = static_cast<uint32_t>(child), .attach_ticks = i, .attach_ns = now_ns + i})
        .addRing(16, 0)
        .recordAlloc(i, i);
  {
    const FewFiles few(24);
    collector->programEnded(0);
    collector->run();
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(collector->summary().totals.stored, kChildren);
}

// The collector sees the arena before the arena has its magic number. Writing the number does not change the time stamp
// of the directory. The collector must find the arena nevertheless.
TEST_F(SessionTest, FindsAnArenaThatWasUnfinishedWhenItWasSeen) {
  std::thread thread([this] { collector->run(); });
  ArenaMaker arena(folder.path());
  arena.header().magic.store(0);
  arena.addRing(16, 0).recordAlloc(1, 1);
  fs::rename(arena.path(), session->path() / arena.path().filename());
  std::this_thread::sleep_for(std::chrono::milliseconds(60)); // so that the collector trusts the directory's time stamp
  arena.header().magic.store(abi::ArenaHeader::kMagic);
  const bool found = soon([&] { return collector->progress().processes == 1; });
  collector->programEnded(0);
  thread.join();
  EXPECT_TRUE(found);
  EXPECT_EQ(collector->summary().totals.stored, 1u);
}

TEST_F(SessionTest, TellsHowAProcessEndedThatIsNotItsChild) {
  const pid_t child = fork(); // a child of the test, not of msleaks-run: the collector cannot wait for it
  if (child == 0)
    pause();
  std::thread thread([this] { collector->run(); });
  const ArenaMaker arena(session->path(),
                         {.pid = static_cast<uint32_t>(child), .attach_ns = analysis::readMonotonicNs()});
  const bool found = soon([&] { return collector->progress().processes == 1; });
  const uint64_t killed_ns = analysis::readMonotonicNs();
  kill(child, SIGTERM);
  const bool finished = soon([this] { return session->arenas().empty(); });
  waitpid(child, nullptr, 0); // until this call, every kernel still has the exit status
  collector->programEnded(0);
  thread.join();
  EXPECT_TRUE(found && finished);
  ASSERT_EQ(collector->summary().processes.size(), 1u);
  EXPECT_EQ(collector->summary().processes[0].exit_status, 128 + SIGTERM);
  EXPECT_GE(endOf(1).time_ns, killed_ns);
}

// It is unknown when the process ended. The time when the collector noticed the end would be too late. So the process
// ends with its last event.
TEST_F(SessionTest, AProcessThatWasGoneBeforeItWasFoundEndsWithItsLastEvent) {
  const uint64_t attach_ns = analysis::readMonotonicNs() - 1'000'000'000;
  ArenaMaker(session->path(), {.pid = endedPid(), .attach_ns = attach_ns})
      .addRing(16, 0)
      .recordAlloc(1, attach_ns + 50);
  collector->programEnded(0);
  collector->run();
  EXPECT_EQ(endOf(1).time_ns, attach_ns + 50);
  EXPECT_EQ(endOf(1).reason, analysis::EndReason::Ended);
}

TEST_F(SessionTest, SaysThatAProcessGoesOn) {
  const pid_t child = fork();
  if (child == 0)
    pause();
  ArenaMaker arena(session->path(), {.pid = static_cast<uint32_t>(child), .attach_ns = analysis::readMonotonicNs()});
  arena.addRing(16, 0).recordAlloc(1, 1);
  collector->programEnded(0);
  collector->run();
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(endOf(1).reason, analysis::EndReason::Running);
  ASSERT_EQ(collector->summary().notes.size(), 1u);
  EXPECT_NE(collector->summary().notes[0].find("still running"), std::string::npos);
}

TEST_F(SessionTest, SaysThatDefinitionsWereRefused) {
  ArenaMaker arena(session->path());
  arena.header().definitions_refused = 3;
  collector->programEnded(0);
  collector->run();
  ASSERT_EQ(collector->summary().notes.size(), 1u);
  EXPECT_NE(collector->summary().notes[0].find("3 images, tables of sites, labels or notes"), std::string::npos);
}

TEST_F(SessionTest, NamesProcessesThatCouldNotMakeTheirFilesAndCountsWhatWasLost) {
  auto *page = const_cast<abi::UnseenPage *>(session->unseen());
  ASSERT_NE(page, nullptr);
  page->dropped = 12;
  page->count = abi::kMaxUnseen + 2;
  page->processes[0].pid = 4711;
  page->processes[0].error = EACCES;
  std::strcpy(page->processes[0].name, "worker");
  page->processes[0].ready = 1;
  collector->programEnded(0);
  collector->run();
  const auto &summary = collector->summary();
  EXPECT_EQ(summary.totals.produced, 12u);
  EXPECT_EQ(summary.totals.dropped, 12u);
  EXPECT_EQ(summary.processes.size(), abi::kMaxUnseen + 2);
  EXPECT_EQ(summary.processes[0].pid, 4711u);
  const auto noted = [&](const char *text) {
    return std::any_of(summary.notes.begin(), summary.notes.end(),
                       [&](const std::string &note) { return note.find(text) != std::string::npos; });
  };
  EXPECT_TRUE(noted("12 events"));
  EXPECT_TRUE(noted("pid 4711 (worker) could not make its files: Permission denied (it changed its user"));
  EXPECT_TRUE(noted("2 more processes"));
  const CollectedTrace trace(folder / "trace.mslt");
  const auto account = trace.account(0, analysis::kSessionProcess);
  ASSERT_TRUE(account);
  EXPECT_EQ(account->dropped, 12u);
}

TEST_F(SessionTest, NamesAProcessThatHadNoRoomAndOneThatIsDamaged) {
  const std::ofstream no_room(session->path() / "77.1.rings");
  ArenaMaker damaged(session->path(), {.pid = 78});
  damaged.header().max_rings = UINT32_MAX;
  collector->programEnded(0);
  collector->run();
  ASSERT_EQ(collector->summary().notes.size(), 2u);
  EXPECT_NE(collector->summary().notes[0].find("not a usable arena"), std::string::npos);
  EXPECT_NE(collector->summary().notes[1].find("no room"), std::string::npos);
}

} // namespace
} // namespace msleaks::test
