#include "analysis/reach/robust_futex.h"

#include "../emulated.h"

#include "msleaks/abi/session.h"

#include <csignal>
#include <gtest/gtest.h>
#include <new>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace msleaks::test {
namespace {

class SharedWord {
public:
  SharedWord()
      : word(*new (mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
                 std::atomic<uint32_t>(0)) {}
  ~SharedWord() { munmap(&word, 4096); }
  std::atomic<uint32_t> &word;
};

TEST(RobustFutex, IsHeldAndGivenBack) {
  if (!kernelHasRobustLists())
    GTEST_SKIP() << "no robust lists";
  const SharedWord shared;
  {
    const analysis::RobustFutex held(shared.word);
    EXPECT_EQ(shared.word.load(), static_cast<uint32_t>(gettid()));
  }
  EXPECT_EQ(shared.word.load(), 0u);
}

// The collector owns a robust futex, and may be killed. After the kill, the futex must show that its owner has ended.
TEST(RobustFutex, AKillSaysThatTheOwnerHasGone) {
  if (!kernelHasRobustLists())
    GTEST_SKIP() << "no robust lists";
  const SharedWord shared;
  const pid_t child = fork();
  if (child == 0) {
    std::thread([&] {
      const analysis::RobustFutex held(shared.word);
      for (;;)
        pause();
    }).join();
  }
  while (shared.word.load() == 0)
    usleep(100);
  EXPECT_EQ(shared.word.load() & abi::kOwnerGone, 0u);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_NE(shared.word.load() & abi::kOwnerGone, 0u);
}

} // namespace
} // namespace msleaks::test
