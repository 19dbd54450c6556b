// Tests how a session decides which arenas belong to one process: by pid, pid namespace and birth.
#include "analysis/base/program.h"
#include "collected_session.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <sched.h>
#include <sys/wait.h>
#include <thread>

namespace msleaks::test {
namespace {

// A process has two program images, and the collector finds both after the process has ended. The exit status belongs
// to the last image.
TEST_F(SessionTest, AnImageThatIsFoundAfterTheExitWasReplacedByTheOneAfterIt) {
  const pid_t child = fork();
  if (child == 0)
    _exit(3);
  siginfo_t ended{};
  waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
  const uint64_t attach_ns = analysis::readMonotonicNs();
  for (uint32_t i = 1; i <= 2; ++i) {
    ArenaMaker image(session->path(),
                     {.pid = static_cast<uint32_t>(child), .attach_ticks = i, .attach_ns = attach_ns + i});
    image.header().exec_id = i;
    image.addRing(16, 0).recordAlloc(i, i);
  }
  collector->programEnded(0);
  collector->run();
  waitpid(child, nullptr, 0);
  EXPECT_EQ(endOf(1).reason, analysis::EndReason::Replaced);
  EXPECT_EQ(endOf(1).time_ns, attach_ns + 2);
  EXPECT_EQ(endOf(1).status, -1);
  EXPECT_EQ(endOf(2).reason, analysis::EndReason::Ended);
  EXPECT_EQ(endOf(2).status, 3 << 8);
}

TEST_F(SessionTest, EndsAnImageWhenAnotherOneOfItsProcessAttaches) {
  ArenaMaker before(session->path(), {.attach_ticks = 1, .attach_ns = 1});
  before.addRing(16, 0).recordAlloc(1, 1);
  ArenaMaker after(session->path(), {.attach_ticks = 2, .attach_ns = 2});
  after.addRing(16, 0).recordAlloc(2, 2);
  collector->programEnded(0);
  collector->run();
  const auto &processes = collector->summary().processes;
  ASSERT_EQ(processes.size(), 2u);
  EXPECT_EQ(processes[0].exit_status, -1);
  EXPECT_EQ(processes[1].exit_status, 0);
  EXPECT_EQ(collector->summary().totals.stored, 2u);
}

// The first processes of two pid namespaces both have pid 1. Neither image replaces the other.
TEST_F(SessionTest, ANumberIsOneProcessOnlyInItsNamespace) {
  struct stat ours{};
  ASSERT_EQ(stat("/proc/self/ns/pid", &ours), 0);
  ArenaMaker program(session->path(), {.attach_ticks = 1, .attach_ns = 1});
  program.header().pid_namespace = ours.st_ino;
  program.header().exec_id = 1;
  program.addRing(16, 0).recordAlloc(1, 1);
  ArenaMaker elsewhere(session->path(), {.attach_ticks = 2, .attach_ns = 2});
  elsewhere.header().pid_namespace = 1; // a namespace that does not exist
  elsewhere.header().exec_id = 2;
  elsewhere.addRing(16, 0).recordAlloc(2, 2);
  collector->programEnded(0);
  collector->run();
  const auto &processes = collector->summary().processes;
  ASSERT_EQ(processes.size(), 2u);
  EXPECT_EQ(processes[0].exit_status, 0) << "the program was not replaced";
  EXPECT_EQ(processes[1].exit_status, -1);
  EXPECT_EQ(collector->summary().totals.stored, 2u);
}

// Two processes run one after the other, and the collector finds both after their ends. The kernel gave the second
// process the pid of the first, and the inode of its pid namespace. Only their births differ. (A birth is the inode of
// a process's pidfd, or its start time.)
TEST_F(SessionTest, ANumberIsOneProcessOnlyWithItsBirth) {
  const uint32_t pid = endedPid();
  for (uint32_t i = 1; i <= 2; ++i) {
    ArenaMaker image(session->path(), {.pid = pid, .attach_ticks = i, .attach_ns = uint64_t{i} * 10});
    image.header().pid_namespace = 1;
    image.header().exec_id = i;
    image.header().process_birth = abi::kBirthIsInode | (50 + i);
    image.addRing(16, 0).recordAlloc(i, i * 10 + 1);
  }
  collector->programEnded(0);
  collector->run();
  EXPECT_EQ(endOf(1).reason, analysis::EndReason::Ended);
  EXPECT_EQ(endOf(1).time_ns, 11u);
  EXPECT_EQ(endOf(2).reason, analysis::EndReason::Ended);
}

TEST_F(SessionTest, TwoCopiesOfTheRuntimeAreOneProcess) {
  ArenaMaker first(session->path(), {.attach_ticks = 1, .attach_ns = 1}),
      second(session->path(), {.attach_ticks = 2, .attach_ns = 2});
  for (ArenaMaker *copy : {&first, &second}) {
    copy->header().exec_id = 7;
    copy->addRing(16, 0).recordAlloc(1, 1);
  }
  collector->programEnded(3);
  collector->run();
  for (const auto &process : collector->summary().processes)
    EXPECT_EQ(process.exit_status, analysis::shellStatus(3));
  EXPECT_EQ(collector->summary().processes.size(), 2u);
}

// The process has pid 1 in another pid namespace. The collector must not mistake it for process 1 of its own namespace.
TEST_F(SessionTest, FollowsAProcessOfAnotherNamespace) {
  int inner[2];
  ASSERT_EQ(pipe(inner), 0);
  const pid_t outer = fork();
  if (outer == 0) {
    pid_t pid = unshare(CLONE_NEWPID) == 0 ? fork() : -1;
    if (pid == 0)
      for (;;)
        pause();
    (void)!write(inner[1], &pid, sizeof pid);
    _exit(pid != -1 && waitpid(pid, nullptr, 0) == pid ? 0 : 1);
  }
  pid_t pid = -1;
  ASSERT_EQ(read(inner[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
  struct stat theirs{};
  if (pid == -1 || stat(fmt::format("/proc/{}/ns/pid", pid).c_str(), &theirs) != 0) {
    waitpid(outer, nullptr, 0);
    GTEST_SKIP() << "skipped: a pid namespace of one's own needs root";
  }
  ArenaMaker arena(session->path(), {.pid = 1, .attach_ns = analysis::readMonotonicNs()});
  arena.header().pid_namespace = theirs.st_ino;
  arena.addRing(16, 0).recordAlloc(5, 5);
  std::thread thread([this] { collector->run(); });
  const bool stored = soon([this] { return collector->progress().stored == 1; });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_TRUE(stored && !session->arenas().empty()) << "it was taken for ended";
  kill(pid, SIGKILL);
  EXPECT_TRUE(soon([this] { return session->arenas().empty(); })) << "its end was not seen";
  waitpid(outer, nullptr, 0);
  collector->programEnded(0);
  thread.join();
}

} // namespace
} // namespace msleaks::test
