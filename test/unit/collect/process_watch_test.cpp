#include "collected.h"

#include "analysis/reach/process_watch.h"

#include <csignal>
#include <cstdio>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace msleaks::test {
namespace {

// Returns whether ioctl() of a pidfd reports facts about the process. An emulator of system calls (qemu-user) may
// report a new kernel version, but not support the system calls of this version.
bool pidfdTellsFacts() {
  const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0));
  uint64_t facts[8]{};
  const bool tells = ioctl(pidfd, _IOWR(0xff, 11, facts), facts) == 0; // PIDFD_GET_INFO, since Linux 6.13
  close(pidfd);
  return tells;
}

// Returns whether a pidfd still reports how a process ended, after the process was reaped.
bool kernelKeepsExitStatus() {
  utsname kernel{};
  int major = 0, minor = 0;
  return uname(&kernel) == 0 && std::sscanf(kernel.release, "%d.%d", &major, &minor) == 2 &&
         (major > 6 || (major == 6 && minor >= 15)) && pidfdTellsFacts();
}

// A child that waits until the test ends it.
class Child {
public:
  Child() {
    if (pipe(pipe_) != 0)
      throw std::runtime_error("no pipe");
    pid_ = fork();
    if (pid_ != 0)
      return;
    close(pipe_[1]);
    char status = 0;
    _exit(read(pipe_[0], &status, 1) == 1 ? status : 99);
  }
  ~Child() {
    close(pipe_[0]);
    close(pipe_[1]);
  }
  uint32_t pid() const { return static_cast<uint32_t>(pid_); }
  void exit(char status) {
    if (write(pipe_[1], &status, 1) != 1)
      throw std::runtime_error("the child has gone");
    siginfo_t ended{};
    waitid(P_PID, pid(), &ended, WEXITED | WNOWAIT);
  }
  void reap() { waitpid(pid_, nullptr, 0); }

private:
  int pipe_[2];
  pid_t pid_;
};

TEST(ProcessWatch, ANumberThatIsSomebodyElsesNowHasEnded) {
  const uint64_t kSomebodys = abi::kBirthIsInode | 1;
  Child child;
  const uint64_t now_ns = analysis::readMonotonicNs();
  EXPECT_FALSE(analysis::ProcessWatch(child.pid(), now_ns).hasEnded());
  const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, child.pid(), 0));
  struct stat file{};
  ASSERT_EQ(fstat(pidfd, &file), 0);
  close(pidfd);
  EXPECT_FALSE(analysis::ProcessWatch(child.pid(), now_ns, abi::kBirthIsInode | file.st_ino).hasEnded());
  EXPECT_TRUE(analysis::ProcessWatch(child.pid(), now_ns, kSomebodys).hasEnded());
  child.exit(0);
  child.reap();
}

TEST(ProcessWatch, TellsAnEndAndItsStatusBeforeTheProcessIsReaped) {
  Child child;
  analysis::ProcessWatch watch(child.pid());
  EXPECT_FALSE(watch.hasEnded());
  EXPECT_FALSE(watch.unseen());
  child.exit(3);
  EXPECT_TRUE(watch.hasEnded());
  EXPECT_EQ(watch.waitStatus(), 3 << 8);
  child.reap();
}

TEST(ProcessWatch, TellsTheStatusAfterwardsWhereTheKernelDoes) {
  Child child;
  analysis::ProcessWatch watch(child.pid());
  child.exit(4);
  child.reap();
  EXPECT_TRUE(watch.hasEnded());
  EXPECT_EQ(watch.waitStatus(), kernelKeepsExitStatus() ? 4 << 8 : -1);
}

TEST(ProcessWatch, KnowsThatAProcessHadGoneBeforeItCouldBeWatched) {
  analysis::ProcessWatch watch(endedPid());
  EXPECT_TRUE(watch.hasEnded());
  EXPECT_FALSE(watch.unseen());
  EXPECT_EQ(watch.waitStatus(), -1);
}

// The process that created the arena has ended, and another process has its pid. The watch must report that the first
// process has ended.
TEST(ProcessWatch, IsNotTakenInByAProcessThatCameLater) {
  Child child;
  analysis::ProcessWatch watch(child.pid(), analysis::readMonotonicNs() - 10'000'000'000);
  EXPECT_TRUE(watch.hasEnded());
  EXPECT_EQ(watch.waitStatus(), -1);
  analysis::ProcessWatch same(child.pid(), analysis::readMonotonicNs());
  EXPECT_FALSE(same.hasEnded());
  child.exit(0);
  child.reap();
}

TEST(ProcessWatch, StampsAnEndThatItSaw) {
  Child child;
  analysis::ProcessWatch watch(child.pid());
  EXPECT_FALSE(watch.hasEnded());
  const uint64_t before_ns = analysis::readMonotonicNs();
  child.exit(0);
  EXPECT_TRUE(watch.hasEnded());
  const uint64_t stamp_ns = watch.endedNs();
  EXPECT_GE(stamp_ns, before_ns);
  EXPECT_TRUE(watch.hasEnded());
  EXPECT_EQ(watch.endedNs(), stamp_ns);
  analysis::ProcessWatch late(child.pid()); // this watch begins after the end of the process
  EXPECT_TRUE(late.hasEnded());
  EXPECT_EQ(late.endedNs(), 0u);
  child.reap();
}

} // namespace
} // namespace msleaks::test
