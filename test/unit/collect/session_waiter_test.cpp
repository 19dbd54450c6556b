#include "collected.h"

#include "analysis/base/machine.h"
#include "analysis/collect/session_waiter.h"
#include "analysis/reach/process_watch.h"

#include <csignal>
#include <fstream>
#include <thread>

namespace msleaks::test {
namespace {

constexpr uint64_t kLong = 10'000'000'000;

TEST(SessionWaiter, WaitsAsLongAsItIsToldTo) {
  const ScratchFolder folder;
  analysis::SessionWaiter waiter(folder.path());
  const uint64_t begin = analysis::readMonotonicNs();
  EXPECT_FALSE(waiter.wait(2'000'000));
  EXPECT_GE(analysis::readMonotonicNs() - begin, 2'000'000u);
}

TEST(SessionWaiter, WakesForANewFile) {
  const ScratchFolder folder;
  analysis::SessionWaiter waiter(folder.path());
  const std::ofstream rings(folder.path() / "1.2.rings");
  EXPECT_TRUE(waiter.wait(kLong));
  EXPECT_FALSE(waiter.wait(0)) << "once for each";
}

TEST(SessionWaiter, WakesOnceForTheEndOfAProcess) {
  const ScratchFolder folder;
  analysis::SessionWaiter waiter(folder.path());
  const pid_t child = fork();
  if (child == 0)
    pause();
  const analysis::ProcessWatch watch(static_cast<uint32_t>(child));
  waiter.watchEnd(watch.pidfd());
  EXPECT_FALSE(waiter.wait(0));
  kill(child, SIGKILL);
  EXPECT_TRUE(waiter.wait(kLong));
  EXPECT_FALSE(waiter.wait(0));
  waitpid(child, nullptr, 0);
}

TEST(SessionWaiter, WakesWhenAnotherThreadSaysSo) {
  const ScratchFolder folder;
  analysis::SessionWaiter waiter(folder.path());
  std::thread([&] { waiter.wake(); }).join();
  EXPECT_TRUE(waiter.wait(kLong));
  EXPECT_FALSE(waiter.wait(0)) << "once";
}

TEST(SessionWaiter, OnlySleepsWhereThereIsNothingToWatch) {
  analysis::SessionWaiter waiter("/nonexistent");
  EXPECT_FALSE(waiter.wait(1000));
}

} // namespace
} // namespace msleaks::test
