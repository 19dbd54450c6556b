#include "collected.h"

#include "analysis/base/run_folder.h"
#include "analysis/collect/recovery.h"
#include "analysis/collect/session_dir.h"

#include <fstream>

namespace msleaks::test {
namespace {

namespace fs = std::filesystem;
using analysis::ProcessCollector;
using analysis::Urgency;

// The files of a session whose collector was killed: the run folder, the trace and the arenas.
class RecoveryTest : public testing::Test {
protected:
  void SetUp() override {
    auto run = analysis::RunFolder::create(folder / "run");
    ASSERT_TRUE(run) << run.error().message;
    analysis::SessionWish wish;
    wish.place = analysis::SessionDir::propose(folder.path());
    wish.clock = abi::ClockKind::Monotonic;
    wish.flags.ring_max_kib = 16;
    auto created = analysis::SessionDir::create(wish);
    ASSERT_TRUE(created) << created.error().message;
    session.emplace(std::move(*created));
    session_path = session->path();
    manifest.state = "running";
    manifest.session_dir = session_path.string();
    ASSERT_TRUE(run->writeManifest(manifest));
    auto trace = analysis::TraceWriter::create(run->trace());
    ASSERT_TRUE(trace) << trace.error().message;
    writer.emplace(std::move(*trace));
  }

  // Stores the arena's events, as the collector did before it was killed.
  void storeSome(ArenaMaker &arena, uint32_t process = 1) {
    analysis::CollectOutput output{*writer, clock};
    ProcessCollector collector(process, openArena(arena.path()), abi::OnFull::Block);
    ASSERT_TRUE(collector.start(*writer));
    ASSERT_TRUE(collector.drain(output, Urgency::Everything, 1));
  }
  void kill() {
    writer.reset();
    session.reset();
  }
  analysis::Recovered recover() {
    auto recovered = analysis::recoverRun(folder / "run");
    if (!recovered)
      throw std::runtime_error(recovered.error().message);
    return *recovered;
  }
  std::string state() { return analysis::RunFolder::open(folder / "run")->readManifest()->state; }
  CollectedTrace trace() { return CollectedTrace(folder / "run" / analysis::kTraceFile); }

  ScratchFolder folder;
  analysis::ClockModel clock{analysis::ClockLine{}};
  analysis::Manifest manifest;
  std::optional<analysis::SessionDir> session;
  fs::path session_path;
  std::optional<analysis::TraceWriter> writer;
};

TEST_F(RecoveryTest, AddsWhatTheRingsStillHold) {
  ArenaMaker arena(session_path, {.pid = endedPid()});
  auto ring = arena.addRing(64, 0);
  for (uint64_t i = 0; i < 10; ++i)
    ring.recordAlloc(i, i);
  storeSome(arena);
  for (uint64_t i = 10; i < 25; ++i)
    ring.recordAlloc(i, i);
  kill();
  const auto recovered = recover();
  EXPECT_EQ(recovered.events_added, 15u);
  EXPECT_TRUE(recovered.notes.empty());
  EXPECT_EQ(trace().addresses(), numbers(0, 25));
  EXPECT_EQ(trace().account(0)->produced, 25u);
  EXPECT_EQ(trace().account(0)->dropped, 0u);
  EXPECT_EQ(state(), "recovered");
  EXPECT_FALSE(fs::exists(session_path));
}

TEST_F(RecoveryTest, SkipsByPositionWhatIsStoredAndStillInTheRing) {
  ArenaMaker arena(session_path, {.pid = endedPid()});
  auto ring = arena.addRing(64, 0);
  for (uint64_t i = 0; i < 10; ++i)
    ring.recordAlloc(i, i);
  storeSome(arena);
  ring.header().tail = 4; // the collector was killed after it wrote the chunk and before it moved the tail
  kill();
  EXPECT_EQ(recover().events_added, 0u);
  EXPECT_EQ(trace().addresses(), numbers(0, 10));
  EXPECT_EQ(trace().account(0)->produced, 10u);
}

TEST_F(RecoveryTest, CountsAStreamOnceThatWasAccountedBeforeItsRingWasDrained) {
  ArenaMaker arena(session_path, {.pid = endedPid()});
  auto small = arena.addRing(16, 0);
  for (uint64_t i = 0; i < 16; ++i)
    small.recordAlloc(i, i);
  auto large = arena.addRing(64, 0);
  large.continueFrom(small);
  large.recordAlloc(16, 16);
  small.setState(abi::RingState::Ended);
  storeSome(arena);
  small.setState(abi::RingState::Ended); // the collector was killed after it wrote the account, but not the state
  large.recordAlloc(17, 17);
  kill();
  recover();
  EXPECT_EQ(trace().addresses(), numbers(0, 18));
  EXPECT_EQ(trace().account(0)->produced, 18u);
  EXPECT_EQ(trace().account(0)->dropped, 0u);
}

// A run may be recovered a day after the kill. So the time of the recovery must not become the end of the processes.
TEST_F(RecoveryTest, EndsWhenTheCollectorWasLastAliveOrAtTheLastEvent) {
  ArenaMaker idle(session_path, {.pid = endedPid(), .attach_ticks = 1, .attach_ns = 1});
  idle.addRing(16, 0).recordAlloc(5, 20);
  ArenaMaker busy(session_path, {.pid = endedPid(), .attach_ticks = 2, .attach_ns = 2});
  busy.addRing(16, 0).recordAlloc(6, 70);
  ArenaMaker finished(session_path, {.pid = endedPid(), .attach_ticks = 3, .attach_ns = 3});
  ASSERT_TRUE(writer->processStart({1, finished.header().pid, 1, 3, 99, {}}));
  ASSERT_TRUE(writer->processEnd({1, 30, 7 << 8, 0})); // the collector was killed before it removed the arena
  session->control().heartbeat_ns = 50;
  kill();
  recover();
  const CollectedTrace after = trace();
  ASSERT_EQ(after.reader().processEnds().size(), 3u);
  EXPECT_EQ(after.reader().processEnds()[0].time_ns, 30u);
  EXPECT_EQ(after.reader().processEnds()[0].status, 7 << 8);
  EXPECT_EQ(after.reader().processEnds()[1].time_ns, 50u);
  EXPECT_EQ(after.reader().processEnds()[2].time_ns, 70u);
  EXPECT_EQ(analysis::RunFolder::open(folder / "run")->readManifest()->end_ns, 70u);
}

TEST_F(RecoveryTest, RemovesOnlyWhatASessionHasMade) {
  const ArenaMaker arena(session_path, {.pid = endedPid()});
  std::ofstream(session_path / "1.1.defs") << "of an arena that was never made";
  fs::create_directory_symlink("/usr/lib", session_path / "lib");
  std::ofstream(session_path / "thesis.tex") << "a year's work";
  kill();
  recover();
  std::vector<fs::path> left;
  for (const auto &entry : fs::directory_iterator(session_path))
    left.push_back(entry.path().filename());
  EXPECT_EQ(left, std::vector<fs::path>{"thesis.tex"});
}

TEST_F(RecoveryTest, RefusesAManifestThatNamesNoAbsoluteSession) {
  for (const char *place : {"", "session"}) {
    manifest.session_dir = place;
    ASSERT_TRUE(analysis::RunFolder::open(folder / "run")->writeManifest(manifest));
    const auto recovered = analysis::recoverRun(folder / "run");
    ASSERT_FALSE(recovered);
    EXPECT_NE(recovered.error().message.find("no absolute path"), std::string::npos) << recovered.error().message;
  }
}

TEST_F(RecoveryTest, TouchesNothingWhenTheManifestCannotBeWritten) {
  ArenaMaker arena(session_path, {.pid = endedPid()});
  arena.addRing(16, 0).recordAlloc(5, 5);
  kill();
  fs::permissions(folder / "run", fs::perms::all);
  const auto recovered = analysis::recoverRun(folder / "run");
  ASSERT_FALSE(recovered);
  EXPECT_EQ(recovered.error().status, ExitStatus::Usage);
  EXPECT_TRUE(fs::exists(arena.path()));
  EXPECT_EQ(arena.header().ring_count, 1u);
  EXPECT_TRUE(trace().addresses().empty());
}

TEST_F(RecoveryTest, FindsProcessesThatTheCollectorNeverSaw) {
  ArenaMaker arena(session_path, {.pid = endedPid(), .attach_ns = 17});
  arena.addRing(16, 0).recordAlloc(5, 5);
  kill();
  EXPECT_EQ(recover().events_added, 1u);
  ASSERT_EQ(trace().reader().processes().size(), 1u);
  EXPECT_EQ(trace().reader().processes()[0].time_ns, 17u);
  const auto processes = analysis::RunFolder::open(folder / "run")->readManifest()->processes;
  ASSERT_EQ(processes.size(), 1u);
  EXPECT_EQ(processes[0].command[0], "demo");
}

TEST_F(RecoveryTest, DoesNoHarmWhenDoneAgain) {
  ArenaMaker arena(session_path, {.pid = endedPid()});
  arena.addRing(16, 0).recordAlloc(5, 5);
  kill();
  recover();
  const auto bytes = fs::file_size(folder / "run" / analysis::kTraceFile);
  EXPECT_TRUE(recover().already_complete);
  EXPECT_EQ(fs::file_size(folder / "run" / analysis::kTraceFile), bytes);
}

TEST_F(RecoveryTest, LeavesARunningProcessAloneAndCompletesItLater) {
  ArenaMaker ended(session_path, {.pid = endedPid(), .attach_ns = 1});
  ended.addRing(16, 0).recordAlloc(5, 5);
  // This arena was created just now, so its pid is that of the test's process, which still runs.
  ArenaMaker running(session_path, {.attach_ns = analysis::readMonotonicNs()});
  auto ring = running.addRing(16, 0);
  ring.recordAlloc(6, 6);
  kill();
  const auto first = recover();
  EXPECT_EQ(first.events_added, 1u);
  ASSERT_EQ(first.still_running.size(), 1u);
  EXPECT_NE(first.still_running[0].find(std::to_string(getpid())), std::string::npos);
  EXPECT_EQ(ring.header().tail, 0u);
  EXPECT_EQ(state(), "running");
  EXPECT_EQ(trace().addresses(), numbers(5, 1));

  running.header().pid = endedPid();
  EXPECT_EQ(recover().events_added, 1u);
  EXPECT_EQ(state(), "recovered");
  EXPECT_EQ(trace().addresses(), numbers(5, 2));
}

TEST_F(RecoveryTest, KnowsAnEndedProcessWhoseNumberIsUsedAgain) {
  // This arena was created long before the test's process started. So its pid was that of an earlier process.
  ArenaMaker arena(session_path, {.attach_ns = 1});
  arena.addRing(16, 0).recordAlloc(5, 5);
  kill();
  EXPECT_TRUE(recover().still_running.empty());
}

TEST_F(RecoveryTest, RefusesASessionThatIsStillRecorded) {
  auto recovered = analysis::recoverRun(folder / "run");
  ASSERT_FALSE(recovered);
  EXPECT_NE(recovered.error().message.find("still recorded"), std::string::npos);
  EXPECT_EQ(state(), "running");
}

TEST_F(RecoveryTest, ClosesTheTraceWhenTheSharedMemoryIsGone) {
  ArenaMaker arena(session_path, {.pid = endedPid()});
  arena.addRing(16, 0).recordAlloc(5, 5);
  storeSome(arena);
  kill();
  fs::remove_all(session_path);
  const auto recovered = recover();
  ASSERT_EQ(recovered.notes.size(), 1u);
  EXPECT_NE(recovered.notes[0].find("is gone"), std::string::npos);
  EXPECT_TRUE(trace().reader().closed());
  EXPECT_EQ(trace().addresses(), numbers(5, 1));
  EXPECT_EQ(state(), "recovered");
}

TEST_F(RecoveryTest, RemovesASessionThatWasNeverFinished) {
  kill();
  fs::remove_all(session_path);
  fs::create_directory(session_path);
  std::ofstream(session_path / "control.new") << "half";
  recover();
  EXPECT_FALSE(fs::exists(session_path));
}

TEST_F(RecoveryTest, TakesTheRestOfTheSessionWhenOneArenaIsDamaged) {
  ArenaMaker bad(session_path, {.pid = endedPid(), .attach_ticks = 1});
  bad.header().max_rings = UINT32_MAX;
  ArenaMaker good(session_path, {.pid = endedPid(), .attach_ticks = 2});
  good.addRing(16, 0).recordAlloc(5, 5);
  kill();
  const auto recovered = recover();
  EXPECT_EQ(recovered.events_added, 1u);
  ASSERT_EQ(recovered.notes.size(), 1u);
  EXPECT_NE(recovered.notes[0].find("not a usable arena"), std::string::npos);
}

} // namespace
} // namespace msleaks::test
