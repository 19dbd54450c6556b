// Tests the hooks with kernels that have a second copy, which counts the edges of the kernel. Each test runs the
// program counting_victim.cpp, which launches such kernels and forks.
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <sys/wait.h>

namespace {

int victim(const std::string &how) {
  const int status = std::system(("env LD_PRELOAD=" MSL_HOOKS_LIBRARY " " MSL_COUNTING_VICTIM " " + how).c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

TEST(CountedKernels, AChildIsFreeOfALockThatAThreadHeldAtTheFork) { EXPECT_EQ(victim("locked"), 0); }
TEST(CountedKernels, AChildThatExitsDoesNotCallTheDriver) { EXPECT_EQ(victim("pending"), 0); }
TEST(CountedKernels, ALaunchDoesNotAskTheRuntimeAgain) { EXPECT_EQ(victim("choice"), 0); }

} // namespace
