// Tests that walks on all kinds of stacks find the same frames as the compiler's own unwinder.
#include "unwound.h"

#include "msleaks/runtime/path.h"
#include "unwind/code.h"
#include "unwind/walk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <memory>
#include <sys/syscall.h>
#include <sys/time.h>
#include <thread>
#include <ucontext.h>
#include <unistd.h>

namespace msleaks::test {
namespace {

using runtime::unwind::Frame;
using runtime::unwind::Stack;
using runtime::unwind::Step;

struct Compared {
  unsigned same = 0, different = 0;
};
thread_local Compared compared;
thread_local Stack stack;
thread_local Calls ours, theirs;

// Returns whether the compiler's unwinder has ended at the PLT. On AArch64 the PLT has no unwind table. So the unwinder
// cannot continue through code in the PLT that a signal has interrupted.
bool endInPlt([[maybe_unused]] std::span<const uint64_t> known) {
#if defined(__aarch64__)
  return runtime::unwind::isInPlt(known.back()) && known.size() < ours.count &&
         sameCalls(known, ours.all().first(known.size()));
#else
  return false;
#endif
}

[[gnu::noinline]] void check() {
  const runtime::CallerFrame caller = runtime::callerFrame();
  Frame frame{
      .address = caller.return_address, .stack_pointer = caller.stack_pointer, .frame_pointer = caller.frame_pointer};
  ours.count = 0;
  if (stack.enter(frame.stack_pointer - sizeof(uint64_t)))
    stack = {};
  stack.enter(frame.stack_pointer - sizeof(uint64_t));
  Step last = Step::Caller;
  while (ours.count < Calls::kMost && last == Step::Caller) {
    ours.add(frame.address);
    last = runtime::unwind::step(frame, stack);
  }
  const std::span<const uint64_t> known = unwound(theirs);
  const bool same = last == Step::Outermost && (sameCalls(ours.all(), known) || endInPlt(known));
  ++(same ? compared.same : compared.different);
}

// Expects that at least `least` comparisons were made, and that none has found a difference.
void expectSame(unsigned least) {
  EXPECT_EQ(compared.different, 0u);
  EXPECT_GE(compared.same, least);
  compared = {};
}

[[gnu::noinline]] void recurse(int depth) {
  [[maybe_unused]] volatile char filler[64];
  filler[0] = 1;
  if (depth > 0)
    recurse(depth - 1);
  else
    check();
  filler[1] = 1;
}

// A function that realigns its stack. So it saves the caller's stack pointer in memory.
[[gnu::noinline]] int realigned(int depth) {
  [[maybe_unused]] alignas(64) volatile char filler[128];
  filler[depth] = 1;
  if (depth > 0)
    realigned(depth - 1);
  else
    recurse(3);
  return filler[0];
}

[[gnu::noinline]] int ofAnySize(int depth) {
  auto *filler = static_cast<volatile char *>(__builtin_alloca(static_cast<size_t>(depth) * 16 + 16));
  filler[0] = 1;
  if (depth > 0)
    ofAnySize(depth - 1);
  else
    realigned(2);
  return filler[0];
}

struct ChecksAtItsEnd {
  ~ChecksAtItsEnd() {
    check();
    recurse(5);
  }
};
[[gnu::noinline]] void throwFrom(int depth) {
  const ChecksAtItsEnd end;
  if (depth == 0)
    throw 1;
  throwFrom(depth - 1);
}

int compareChecked(const void *, const void *) {
  check();
  return 0;
}

void onSignal(int) {
  check();
  recurse(3);
}

struct sigaction handle(int signal, int flags) {
  struct sigaction action{}, before{};
  action.sa_handler = onSignal;
  action.sa_flags = flags;
  ::sigaction(signal, &action, &before);
  return before;
}

} // namespace

TEST(Walk, PlainRealignedAndVariableFrames) {
  check();
  recurse(100);
  realigned(3);
  ofAnySize(7);
  expectSame(4);
}

TEST(Walk, WhileAnExceptionIsInFlight) {
  for (int depth = 0; depth < 5; ++depth)
    try {
      throwFrom(depth);
    } catch (int) {
      check();
    }
  expectSame(25);
}

TEST(Walk, ThroughCodeOfLibraries) {
  int numbers[50] = {3, 1, 2};
  std::qsort(numbers, std::size(numbers), sizeof *numbers, compareChecked);
  const std::function<void()> function = [] { recurse(2); };
  function();
  expectSame(50);
}

TEST(Walk, InThreads) {
  std::thread([] {
    recurse(4);
    ofAnySize(3);
    expectSame(2);
  }).join();
}

TEST(Walk, ThroughSignalHandlersOnBothStacks) {
  const struct sigaction before = handle(SIGUSR1, 0);
  ::raise(SIGUSR1);
  const auto memory = std::make_unique<char[]>(1 << 16);
  stack_t own{}, old{};
  own.ss_sp = memory.get();
  own.ss_size = 1 << 16;
  ::sigaltstack(&own, &old);
  handle(SIGUSR1, SA_ONSTACK);
  ::raise(SIGUSR1);
  ::sigaltstack(&old, nullptr);
  ::sigaction(SIGUSR1, &before, nullptr);
  expectSame(4);
}

#if defined(__x86_64__)
namespace {

// The code to which a signal handler returns: mov $15, %rax; syscall. It has no unwind table. The same code of AArch64
// has no table since Linux 5.8.
__asm__(
    ".pushsection .text\n.balign 16\nnop\nmsl_test_restorer: .byte 0x48,0xc7,0xc0,0x0f,0,0,0,0x0f,0x05\n.popsection");
extern "C" void msl_test_restorer() __asm__("msl_test_restorer");

struct KernelAction {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)();
  uint64_t mask;
};

} // namespace

TEST(Walk, ThroughAHandlerWhoseReturnNoTableKnows) {
  constexpr unsigned long kHasRestorer = 0x04000000;
  const KernelAction action{onSignal, kHasRestorer, msl_test_restorer, 0};
  KernelAction before{};
  ASSERT_EQ(::syscall(SYS_rt_sigaction, SIGUSR1, &action, &before, sizeof action.mask), 0);
  ::raise(SIGUSR1);
  ASSERT_EQ(::syscall(SYS_rt_sigaction, SIGUSR1, &before, nullptr, sizeof action.mask), 0);
  expectSame(2);
}
#endif

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
namespace {
ucontext_t main_context, fiber_context;
void runFiber() {
  check();
  recurse(10);
  ofAnySize(4);
  ::swapcontext(&fiber_context, &main_context);
}
} // namespace

TEST(Walk, OfAFiber) {
  constexpr size_t kBytes = 1 << 18;
  const auto memory = std::make_unique<char[]>(kBytes);
  ::getcontext(&fiber_context);
  fiber_context.uc_stack.ss_sp = memory.get();
  fiber_context.uc_stack.ss_size = kBytes;
  fiber_context.uc_link = &main_context;
  ::makecontext(&fiber_context, runFiber, 0);
  ::swapcontext(&main_context, &fiber_context);
  stack.forget();
  expectSame(3);
}

// A timer interrupts the program at any instruction, also in prologues, epilogues, the linker's stubs and the kernel's
// vDSO. Walks from the handler must find the same frames as the compiler's unwinder.
TEST(Walk, FromInterruptedInstructions) {
  const struct sigaction before = handle(SIGALRM, SA_RESTART);
  const itimerval often{{0, 200}, {0, 200}}, never{};
  ::setitimer(ITIMER_REAL, &often, nullptr);
  for (int i = 0; i < 1500; ++i) {
    char text[100];
    std::snprintf(text, sizeof text, "%f %d", i * 1.5, i);
    timespec now;
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    const volatile double parsed = std::strtod(text, nullptr);
    std::free(std::malloc(static_cast<size_t>(parsed) % 1000 + 1));
  }
  ::setitimer(ITIMER_REAL, &never, nullptr);
  ::sigaction(SIGALRM, &before, nullptr);
  expectSame(2);
}
#endif

// On a damaged stack each walk must end, either unfinished or at a wrong outermost frame.
TEST(Walk, OfADamagedStackEnds) {
  alignas(16) uint64_t words[64];
  for (unsigned seed = 0; seed < 1000; ++seed) {
    for (uint64_t i = 0; i < std::size(words); ++i)
      words[i] = (seed + i) % 3 == 0 ? reinterpret_cast<uint64_t>(&recurse) + 8
                                     : reinterpret_cast<uint64_t>(words) + (seed * uint64_t{7919} + i * 104729) % 4096;
    Frame frame{.address = reinterpret_cast<uint64_t>(&check) + seed % 64,
                .stack_pointer = reinterpret_cast<uint64_t>(words) + seed % 8,
                .frame_pointer = words[seed % 64]};
    Stack of_words;
    of_words.enter(frame.stack_pointer);
    unsigned steps = 0;
    while (steps < 100'000 && runtime::unwind::step(frame, of_words) == Step::Caller)
      ++steps;
    EXPECT_LT(steps, 100'000u);
  }
}

namespace {
constexpr uint64_t kOnTheStack = 1, kFarUpTheStack = 2;
Step stepFrom(uint64_t address, bool is_interrupted = false) {
  uint64_t words[4096] = {};
  const auto low = reinterpret_cast<uint64_t>(words);
  if (address == kOnTheStack)
    address = low + 24;
  if (address == kFarUpTheStack)
    address = low + sizeof words - 100;
  Frame frame{.address = address, .stack_pointer = low + 8, .frame_pointer = low + 64};
  frame.is_interrupted = is_interrupted;
  Stack of_words;
  of_words.enter(low);
  return runtime::unwind::step(frame, of_words);
}
} // namespace

TEST(Walk, OfAWordThatIsNoReturnAddressSaysSo) {
  const runtime::CallerFrame caller = runtime::callerFrame();
  for (const uint64_t word :
       {uint64_t{0}, kOnTheStack, kFarUpTheStack, uint64_t{9}, uint64_t{1} << 62 | 77, ~uint64_t{0}})
    EXPECT_EQ(stepFrom(word), Step::NoCall) << word;
  EXPECT_NE(stepFrom(caller.return_address), Step::NoCall);
  // An address outside all images may be code, so the result is Unknown.
  const auto page = std::make_unique<uint64_t[]>(512);
  EXPECT_EQ(stepFrom(reinterpret_cast<uint64_t>(page.get())), Step::Unknown);
}

TEST(Walk, OfCodeBehindNoCallIsKnownWhereASignalInterruptedIt) {
  const auto begin = reinterpret_cast<uint64_t>(&recurse);
  const auto after_first = begin + 4; // the bytes before this address are no call
  EXPECT_EQ(stepFrom(after_first), Step::NoCall);
  EXPECT_NE(stepFrom(after_first - 1, true), Step::NoCall);
  EXPECT_NE(stepFrom(after_first - 1, true), Step::NoCall);
}

} // namespace msleaks::test
