// Makes child processes while a second thread changes the protection of pages that the children inherit. Ends with 0 if
// no child was killed. Its argument is one of
//   touched   the thread touches guarded blocks, and each child touches the same blocks
//   freed     the thread frees guarded blocks, and each child touches blocks that it still has
//   siblings  as `touched`, but the children have the same parent as the process itself
//   watched   the thread begins and ends the operation "op", and each child writes to the watched block "block"
#include "msleaks/abi/guarded.h"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <sched.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using msleaks::abi::GuardCall;

constexpr int kBlocks = 3000, kNear = 20, kForks = 100, kSiblings = 40;
constexpr size_t kBytes = 20000;

std::array<std::atomic<char *>, kBlocks> blocks;
std::atomic<int> at{0};
std::atomic<bool> is_done{false};

void touch(int i) {
  if (char *const block = i < kBlocks ? blocks[i].load() : nullptr; block != nullptr)
    *static_cast<volatile char *>(block) = 1;
}

void touchAll() {
  for (int i = 0; i < kBlocks; ++i) {
    touch(i);
    at = i;
  }
  is_done = true;
}

void freeAll() {
  for (int i = 0; i < kBlocks; ++i) {
    at = i;
    std::free(blocks[i].exchange(nullptr));
  }
  is_done = true;
}

long tell(GuardCall call, const void *first = nullptr, size_t second = 0, const char *third = nullptr) {
  return syscall(msleaks::abi::kGuardCall, static_cast<long>(call), first, second, third);
}

void enterOperations() {
  while (!is_done) {
    tell(GuardCall::RangeBegins, "op");
    tell(GuardCall::RangeEnds);
  }
}

[[noreturn]] void touchNear(int place) {
  for (int i = place > 3 ? place - 3 : 0; i < place + kNear; ++i)
    touch(i);
  _exit(0);
}

// Whether all children live.
template <class Child> bool forkWhile(const Child &child) {
  for (int i = 0; i < kForks && !is_done; ++i) {
    const pid_t forked = fork();
    if (forked == 0)
      child();
    int status = 0;
    if (waitpid(forked, &status, 0) != forked || status != 0)
      return false;
  }
  return true;
}

// A child that is not ours cannot be waited for. So each child writes a byte.
bool cloneSiblings() {
  int pipes[2];
  if (pipe(pipes) != 0)
    return false;
  for (int i = 0; i < kSiblings; ++i)
    if (syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) == 0) {
      touch(kBlocks - 1 - i);
      touch(at + 1);
      _exit(write(pipes[1], "x", 1) == 1 ? 0 : 1);
    }
  close(pipes[1]);
  int lived = 0;
  for (char byte; read(pipes[0], &byte, 1) == 1;)
    ++lived;
  return lived == kSiblings;
}

bool watch() {
  void *mapped = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    return false;
  blocks[0] = static_cast<char *>(mapped);
  tell(GuardCall::Listen);
  tell(GuardCall::Watch, mapped, kBytes, "block");
  std::thread other(enterOperations);
  const bool all_live = forkWhile([] { touchNear(0); });
  is_done = true;
  other.join();
  return all_live;
}

} // namespace

int main(int, char **argv) {
  const std::string_view how = argv[1];
  if (how == "watched")
    return watch() ? 0 : 1;
  for (auto &block : blocks)
    block = static_cast<char *>(std::malloc(kBytes));
  std::thread other(how == "freed" ? freeAll : touchAll);
  const bool all_live = how == "siblings" ? cloneSiblings() : forkWhile([] { touchNear(at); });
  other.join();
  return all_live ? 0 : 1;
}
