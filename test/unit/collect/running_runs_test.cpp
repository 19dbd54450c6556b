// Tests how the files of sessions show which sessions still run.
#include "arena_maker.h"

#include "analysis/base/run_folder.h"
#include "analysis/collect/running_runs.h"
#include "analysis/collect/session_dir.h"
#include "analysis/trace/trace_writer.h"

#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <optional>
#include <unistd.h>

namespace msleaks::test {
namespace {

using analysis::Collecting;
using analysis::howItStands;
using analysis::Manifest;
using analysis::newestRunningRun;
using analysis::RunFolder;
using analysis::SessionDir;
using analysis::SessionWish;
using analysis::TraceWriter;
namespace fs = std::filesystem;

// A session of the test's process, with its own run folder.
class Session {
public:
  Session(const ScratchFolder &scratch, const std::string &name) : folder_(*RunFolder::create(scratch / name)) {
    SessionWish wish;
    wish.clock = abi::ClockKind::Monotonic;
    wish.place = SessionDir::propose(scratch.path());
    session_.emplace(*SessionDir::create(wish));
    trace_.emplace(*TraceWriter::create(folder_.trace()));
    say("running");
  }
  void say(const std::string &state) {
    Manifest manifest;
    manifest.state = state;
    manifest.session_dir = session_->path().string();
    ASSERT_TRUE(folder_.writeManifest(manifest));
  }
  void closeTrace() { trace_.reset(); }
  const fs::path &run() const { return folder_.path(); }
  SessionDir &session() { return *session_; }

private:
  RunFolder folder_;
  std::optional<SessionDir> session_;
  std::optional<TraceWriter> trace_;
};

TEST(RunningRuns, StandAsTheirFilesSay) {
  const ScratchFolder scratch;
  Session session(scratch, "run");
  EXPECT_EQ(howItStands(session.run()), Collecting::GoesOn);
  session.say("complete");
  EXPECT_EQ(howItStands(session.run()), Collecting::Ended);
  session.say("running");
  session.session().control().state = abi::SessionState::Closed;
  EXPECT_EQ(howItStands(session.run()), Collecting::Orphaned);
  session.session().remove();
  EXPECT_EQ(howItStands(session.run()), Collecting::Orphaned) << "its shared memory has gone";
  EXPECT_EQ(howItStands(scratch / "missing"), Collecting::GoesOn) << "what cannot be told goes on";
}

TEST(RunningRuns, TheNewestIsTheOneThatBeganLast) {
  const ScratchFolder scratch;
  EXPECT_FALSE(newestRunningRun(scratch.path()));
  Session first(scratch, "first");
  EXPECT_EQ(newestRunningRun(scratch.path()).value_or(""), first.run());
  Session second(scratch, "second");
  EXPECT_EQ(newestRunningRun(scratch.path()).value_or(""), second.run());
  second.closeTrace();
  EXPECT_EQ(newestRunningRun(scratch.path()).value_or(""), first.run()) << "nobody has the second one's trace open";
  first.closeTrace();
  const auto none = newestRunningRun(scratch.path());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().status, ExitStatus::BadInput);
}

TEST(RunningRuns, WhatIsNoSessionIsPassedOver) {
  const ScratchFolder scratch;
  const fs::path later = scratch / fmt::format("msleaks-{}-1-ffffffffffffffff", getuid());
  fs::create_directory(later);
  const Session session(scratch, "run");
  EXPECT_EQ(newestRunningRun(scratch.path()).value_or(""), session.run());
  std::ofstream(later / abi::kControlFile) << "no page";
  EXPECT_EQ(newestRunningRun(scratch.path()).value_or(""), session.run());
}

} // namespace
} // namespace msleaks::test
