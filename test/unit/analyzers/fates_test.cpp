// Tests how the analysis finds out from a trace when and how each process ended.
#include "../trace/random_events.h"

#include "analysis/stream/pipeline.h"

#include <gtest/gtest.h>

namespace msleaks::analysis::test {
namespace {

constexpr uint32_t kPid = 4711;

class Fates : public testing::Test {
protected:
  void start(uint32_t process, uint64_t time_ns, uint64_t pid_namespace, uint32_t exec_id, uint64_t birth = 0) {
    ASSERT_TRUE(writer_->processStart({process, kPid, 1, time_ns, 0, {"p"}, pid_namespace, exec_id, 0, birth}));
  }
  void end(uint32_t process, uint64_t time_ns, int status, EndReason reason = EndReason::Ended) {
    ASSERT_TRUE(writer_->processEnd({process, time_ns, status, 0, reason}));
  }
  ProcessFate fate(uint32_t process) {
    const auto fates = fatesOf(*TraceReader::open(file_));
    return fates.contains(process) ? fates.at(process) : ProcessFate{};
  }
  FreeCause cause(uint32_t process) { return fate(process).cause; }

  ScratchFolder folder_;
  std::filesystem::path file_ = folder_ / "trace.mslt";
  Result<TraceWriter> writer_ = TraceWriter::create(file_);
};

TEST_F(Fates, AnImageBeforeAnExecIsReplacedWhateverStatusWasFound) {
  start(1, 100, 7, 1);
  start(2, 200, 7, 2);
  end(1, 300, 0); // the collector read this status after both images had ended
  end(2, 300, 5 << 8);
  EXPECT_EQ(cause(1), FreeCause::ProcessExec);
  EXPECT_EQ(fate(1).time_ns, 200u);
  EXPECT_EQ(fate(2).exit_status, 5);
}

TEST_F(Fates, OldTracesDoNotSayWhichExecAnImageBeganWith) {
  start(1, 100, 0, 0);
  start(2, 200, 0, 0);
  end(1, 300, -1);
  EXPECT_EQ(cause(1), FreeCause::ProcessExec);
  EXPECT_EQ(cause(2), FreeCause::StillAlive);
}

TEST_F(Fates, ThePidOfAProcessThatHadEndedIsSomebodyElses) {
  start(1, 100, 7, 1);
  end(1, 150, -1);
  start(2, 200, 7, 2);
  end(2, 300, 0);
  EXPECT_EQ(cause(1), FreeCause::ProcessExited);
}

TEST_F(Fates, APidIsOneProcessOnlyInItsNamespace) {
  start(1, 100, 7, 1);
  start(2, 110, 8, 2);
  end(1, 300, -1);
  end(2, 310, -1);
  EXPECT_EQ(cause(1), FreeCause::ProcessExited);
  EXPECT_EQ(cause(2), FreeCause::ProcessExited);
}

// A birth is the inode of a process's pidfd, or its start time. All three program images have the same pid and the same
// namespace inode, but image 1 has a different birth. So image 1 belongs to an earlier process, which exited. Image 3
// replaced image 2.
TEST_F(Fates, APidAndANamespaceAreOneProcessOnlyWithItsBirth) {
  start(1, 100, 7, 1, abi::kBirthIsInode | 51);
  start(2, 200, 7, 2, abi::kBirthIsInode | 52);
  start(3, 250, 7, 3, abi::kBirthIsInode | 52);
  end(1, 300, -1);
  end(2, 300, -1);
  end(3, 310, 0);
  EXPECT_EQ(cause(1), FreeCause::ProcessExited);
  EXPECT_EQ(cause(2), FreeCause::ProcessExec);
  EXPECT_EQ(cause(3), FreeCause::ProcessExited);
}

// For image 2, the runtime could not query the inode of the pidfd, for example because no file descriptor was free. So
// the runtime stored the start time. Births of different kinds do not show that images 1 and 2 belong to two processes.
TEST_F(Fates, BirthsOfDifferentKindsSayNothing) {
  start(1, 100, 7, 1, abi::kBirthIsInode | 51);
  start(2, 200, 7, 2, 51);
  start(3, 250, 7, 3, 0);
  end(3, 310, 0);
  EXPECT_EQ(cause(1), FreeCause::ProcessExec);
  EXPECT_EQ(cause(2), FreeCause::ProcessExec);
}

TEST_F(Fates, TwoCopiesOfTheRuntimeAreOneImage) {
  start(1, 100, 7, 1);
  start(2, 110, 7, 1);
  end(1, 300, 3 << 8);
  end(2, 300, 3 << 8);
  EXPECT_EQ(fate(1).exit_status, 3);
  EXPECT_EQ(fate(2).exit_status, 3);
}

TEST_F(Fates, ACollectorMaySayThatAnImageWasReplacedOrRunsOn) {
  start(1, 100, 7, 1);
  end(1, 300, -1, EndReason::Running);
  EXPECT_EQ(cause(1), FreeCause::StillAlive);
  EXPECT_EQ(fate(1).time_ns, 300u);
  end(1, 310, 0, EndReason::Replaced);
  EXPECT_EQ(cause(1), FreeCause::ProcessExec);
}

} // namespace
} // namespace msleaks::analysis::test
