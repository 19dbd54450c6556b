// Tests that the threads of another process are stopped while its memory is read, and are always released afterwards.
#include "analysis/reach/stopped_threads.h"

#include "../sanitizers.h"

#include <csignal>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <pthread.h>
#include <string>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace msleaks::analysis {
namespace {

constexpr uint64_t kLongNs = 60'000'000'000; // longer than a busy machine needs

volatile sig_atomic_t signals_taken;

// A child process with a sleeping second thread. The first thread reads commands of one byte each.
class StoppedThreadsTest : public testing::Test {
protected:
  void SetUp() override {
    if (msleaks::test::kThreadSanitizer)
      GTEST_SKIP() << "ThreadSanitizer has threads of its own";
    ASSERT_EQ(pipe(told_), 0);
    ASSERT_EQ(pipe(ready_), 0);
    child_ = fork();
    if (child_ == 0)
      runChild();
    waitUntilReady();
  }
  void TearDown() override {
    stopped_.reset();
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitForEnd();
    }
    for (const int file : {told_[0], told_[1], ready_[0], ready_[1]})
      close(file);
  }

  [[noreturn]] void runChild() {
    signal(SIGUSR1, [](int) { signals_taken = signals_taken + 1; });
    pthread_t thread;
    static const int wake = eventfd(0, 0);
    pthread_create(&thread, nullptr, sleepOrWait, const_cast<int *>(&wake));
    for (char order = 0;;) {
      [[maybe_unused]] const auto said = write(ready_[1], "r", 1);
      if (read(told_[0], &order, 1) != 1 || order == 'e')
        _exit(signals_taken);
      if (order == 'w') {
        eventfd_write(wake, 1);
        pthread_join(thread, nullptr);
      } else {
        pthread_kill(thread, SIGUSR1);
      }
    }
  }
  // Waits for an event in epoll_wait(). Exits with 77 if the call was interrupted although no signal was handled.
  static void *sleepOrWait(void *wake) {
    epoll_event event{.events = EPOLLIN, .data = {}};
    const int set = epoll_create1(0);
    epoll_ctl(set, EPOLL_CTL_ADD, *static_cast<int *>(wake), &event);
    while (epoll_wait(set, &event, 1, -1) != 1)
      if (signals_taken == 0)
        _exit(77);
    return nullptr;
  }

  void waitUntilReady() {
    char byte = 0;
    ASSERT_EQ(read(ready_[0], &byte, 1), 1);
  }
  // Returns the child's wait status.
  int waitForEnd() {
    int status = -1;
    EXPECT_EQ(waitpid(child_, &status, 0), child_);
    child_ = 0;
    return status;
  }
  void tell(char order) { ASSERT_EQ(write(told_[1], &order, 1), 1); }
  void stop() { stopped_.emplace(static_cast<uint32_t>(child_), static_cast<uint32_t>(child_)); }

  // Returns a field of the second thread's status file, such as its state or its tracer.
  std::string other(const std::string &field) const {
    for (const uint32_t tid : threadsOf(static_cast<uint32_t>(child_)))
      if (tid != static_cast<uint32_t>(child_)) {
        std::ifstream file("/proc/" + std::to_string(child_) + "/task/" + std::to_string(tid) + "/status");
        for (std::string line; std::getline(file, line);)
          if (line.starts_with(field))
            return line.substr(field.size() + 2);
      }
    return "";
  }
  // Waits until the field has the expected value, and returns its last value. When a tracer ends, the kernel may
  // release the traced threads a moment later.
  std::string soon(const std::string &field, const std::string &expected) const {
    for (int i = 0; i < 5000 && other(field) != expected; ++i)
      usleep(1000);
    return other(field);
  }

  int told_[2] = {-1, -1}, ready_[2] = {-1, -1};
  pid_t child_ = 0;
  std::optional<StoppedThreads> stopped_;
};

TEST_F(StoppedThreadsTest, StandStillAndGoOn) {
  stop();
  EXPECT_EQ(stopped_->unseen(), 0u);
  ASSERT_EQ(stopped_->threads().size(), 1u);
  EXPECT_NE(stopped_->threads()[0].stack, 0u);
  EXPECT_FALSE(stopped_->threads()[0].registers.empty());
  EXPECT_EQ(other("State"), "t (tracing stop)");
  stopped_.reset();
  EXPECT_EQ(soon("TracerPid", "0"), "0");
  EXPECT_EQ(soon("State", "S (sleeping)"), "S (sleeping)");
}

TEST_F(StoppedThreadsTest, ASignalIsTakenLater) {
  stop();
  tell('s');
  waitUntilReady();
  EXPECT_EQ(other("State"), "t (tracing stop)");
  stopped_.reset();
  EXPECT_EQ(soon("SigPnd", "0000000000000000"), "0000000000000000");
  EXPECT_EQ(soon("State", "S (sleeping)"), "S (sleeping)");
  tell('e');
  EXPECT_EQ(WEXITSTATUS(waitForEnd()), 1);
}

// The process exits while its second thread is stopped. This thread becomes a zombie, which the tracer must reap before
// the process can end.
TEST_F(StoppedThreadsTest, AProcessThatEndsMeanwhileEnds) {
  stop();
  tell('e');
  usleep(10'000);
  EXPECT_EQ(waitpid(child_, nullptr, WNOHANG), 0);
  stopped_.reset();
  EXPECT_EQ(waitForEnd(), 0);
}

// An interrupted epoll_wait() must be restarted. Otherwise it would fail with EINTR, which the child does not expect.
TEST_F(StoppedThreadsTest, AnInterruptedCallIsMadeAgain) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "only the kernel can make a call again there";
#endif
  for (int i = 0; i < 10; ++i) {
    stop();
    EXPECT_EQ(stopped_->unseen(), 0u);
    stopped_.reset();
    EXPECT_EQ(soon("State", "S (sleeping)"), "S (sleeping)");
  }
  tell('w');
  waitUntilReady();
  tell('e');
  EXPECT_EQ(WEXITSTATUS(waitForEnd()), 0);
}

TEST_F(StoppedThreadsTest, RunOnUntilTheyMayBeHeld) {
  std::map<uint32_t, int> looks;
  stopped_.emplace(
      static_cast<uint32_t>(child_), static_cast<uint32_t>(child_),
      [&](const ThreadState &thread) { return ++looks[thread.tid] == 4; }, kLongNs);
  EXPECT_EQ(stopped_->unsettled(), 0u);
  ASSERT_EQ(looks.size(), 1u);
  EXPECT_EQ(looks.begin()->second, 4);
  EXPECT_EQ(other("State"), "t (tracing stop)");
  stopped_.emplace(static_cast<uint32_t>(child_), static_cast<uint32_t>(child_),
                   [](const ThreadState &) { return false; });
  EXPECT_EQ(stopped_->unsettled(), 1u);
  stopped_.reset();
  tell('w');
  waitUntilReady();
  tell('e');
  EXPECT_EQ(WEXITSTATUS(waitForEnd()), 0);
}

// The callback allows stopping the second thread only at its sixth call. The signal is sent earlier, at the callback's
// second call.
TEST_F(StoppedThreadsTest, ASignalIsTakenWhileTheyRunOn) {
  int looks = 0;
  const auto may_hold = [&](const ThreadState &) {
    if (++looks == 2) {
      tell('s');
      waitUntilReady();
    }
    return looks == 6;
  };
  stopped_.emplace(static_cast<uint32_t>(child_), static_cast<uint32_t>(child_), may_hold, kLongNs);
  EXPECT_EQ(stopped_->unsettled(), 0u);
  stopped_.reset();
  EXPECT_EQ(soon("SigPnd", "0000000000000000"), "0000000000000000");
  EXPECT_EQ(soon("State", "S (sleeping)"), "S (sleeping)");
  tell('e');
  EXPECT_EQ(WEXITSTATUS(waitForEnd()), 1);
}

TEST_F(StoppedThreadsTest, AllOfThem) {
  stopped_.emplace(static_cast<uint32_t>(child_), 0);
  EXPECT_EQ(stopped_->threads().size(), 2u);
  EXPECT_EQ(stopped_->unseen(), 0u);
}

TEST_F(StoppedThreadsTest, AProcessThatIsGoneHasNone) {
  const auto gone = static_cast<uint32_t>(child_);
  kill(child_, SIGKILL);
  waitForEnd();
  stopped_.emplace(gone, gone);
  EXPECT_TRUE(stopped_->threads().empty());
}

} // namespace
} // namespace msleaks::analysis
