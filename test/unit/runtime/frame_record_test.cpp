// Tests walks through code without unwind tables. A walk may continue only if a frame pointer proves the next frame. It
// must never return a wrong frame.
#include "unwound.h"
#include "without_tables.h"

#include "msleaks/runtime/path.h"
#include "unwind/walk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <sys/mman.h>

namespace msleaks::test {
namespace {

using runtime::unwind::Frame;
using runtime::unwind::Stack;
using runtime::unwind::Step;

#if defined(__x86_64__)
constexpr bool kRecordsProve = true;
#else
constexpr bool kRecordsProve = false;
#endif

struct Walked {
  Calls calls;
  bool complete = false;
};
Walked walked;
Calls calls_of_theirs;            // the calls outside of the library, as the compiler's unwinder found them
uint64_t finished, others, wrong; // numbers of walks: complete ones, incomplete ones, and wrong ones
uint64_t frames_seen, frames_there;

[[gnu::always_inline]] inline void walkFromHere() {
  const runtime::CallerFrame caller = runtime::callerFrame();
  Frame frame{
      .address = caller.return_address, .stack_pointer = caller.stack_pointer, .frame_pointer = caller.frame_pointer};
  Stack stack;
  stack.enter(frame.stack_pointer - sizeof(uint64_t));
  walked.calls.count = 0;
  Step last = Step::Caller;
  while (walked.calls.count < Calls::kMost && last == Step::Caller) {
    walked.calls.add(frame.address);
    last = runtime::unwind::step(frame, stack);
  }
  walked.complete = last == Step::Outermost;
}

// Returns the true calls: first those that the library reports, and then those outside of the library.
std::span<const uint64_t> truth(uint64_t innermost) {
  static Calls calls;
  calls.count = 0;
  calls.add(innermost);
  for (unsigned i = msl_test_depth; i-- > 0;)
    calls.add(reinterpret_cast<uint64_t>(msl_test_callers[i]));
  for (size_t i = 0; i < calls_of_theirs.count; ++i)
    calls.add(calls_of_theirs.addresses[i]);
  return calls.all();
}

[[gnu::noinline]] void check() {
  walkFromHere();
  const auto all = truth(walked.calls.addresses[0]);
  const auto ours = walked.calls.all();
  const bool right = ours.size() <= all.size() && std::equal(ours.begin(), ours.end(), all.begin()) &&
                     (!walked.complete || ours.size() == all.size());
  wrong += !right;
  ++(walked.complete ? finished : others);
  frames_seen += ours.size();
  frames_there += all.size();
}

// Clears the unused part of the stack. Old return addresses in it would prevent a proof of the next frame.
[[gnu::noinline]] void clearStack() {
  char forgotten[1 << 16];
  std::memset(forgotten, 0, sizeof forgotten);
  __asm__ volatile("" : : "r"(forgotten) : "memory");
}

// Calls a function of the library through the linker's slots, as a program does.
template <auto Function> [[gnu::noinline]] void callLibrary(int depth, void (*called)() = check) {
  const auto callers = unwound(calls_of_theirs);
  calls_of_theirs.count = callers.size();
  std::copy(callers.begin(), callers.end(), calls_of_theirs.addresses);
  finished = others = wrong = frames_seen = frames_there = 0;
  msl_test_check = called;
  clearStack();
  Function(depth);
  EXPECT_EQ(wrong, 0u);
}

} // namespace

TEST(FrameRecords, LeadThroughCodeWithoutTables) {
  callLibrary<msl_test_plain_down>(40);
  EXPECT_EQ(finished, kRecordsProve ? 1u : 0u);
  callLibrary<msl_test_fast_down>(40);
  EXPECT_EQ(finished, kRecordsProve ? 1u : 0u);
}

// The innermost function makes no frame record (a saved frame pointer and a return address). Its callers have records,
// but at an unknown distance. So the walk must end at the first frame.
TEST(FrameRecords, AreNoneOfAFunctionThatMakesNone) {
  callLibrary<msl_test_bare_down>(5);
  EXPECT_EQ(finished, 0u);
  EXPECT_EQ(frames_seen, 1u);
}

namespace {

void raiseSignal() {
  msl_test_check = check;
  ::raise(SIGUSR1);
}

// Expects that a walk ends at a signal handler without tables. If the handler makes a frame record, its return address
// does not follow a call. If it makes none, the next record belongs to another function.
template <auto Handler> void expectOneFrameOfHandler() {
  struct sigaction action{}, before{};
  action.sa_handler = Handler;
  ::sigaction(SIGUSR1, &action, &before);
  callLibrary<msl_test_fast_down>(3, raiseSignal);
  ::sigaction(SIGUSR1, &before, nullptr);
  EXPECT_EQ(finished, 0u);
  EXPECT_EQ(frames_seen, 1u);
}

} // namespace

TEST(FrameRecords, DoNotLeadOutOfHandlersWithoutTables) {
  expectOneFrameOfHandler<msl_test_plain_pass>();
  expectOneFrameOfHandler<msl_test_bare_pass>();
}

#if defined(__x86_64__)
// Code that was generated at run time belongs to no image. So its frame record does not prove the next frame.
TEST(FrameRecords, OfCodeWithoutAnImageAreNoProof) {
  constexpr unsigned char kCode[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3}; // push, mov, call *%rdi, pop, ret
  void *memory = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  constexpr size_t kBegin = 64; // the undefined behaviour sanitizer reads the bytes before a function
  auto *const code = static_cast<unsigned char *>(memory) + kBegin;
  std::memcpy(code, kCode, sizeof kCode);
  ASSERT_EQ(::mprotect(memory, 4096, PROT_READ | PROT_EXEC), 0);
  finished = others = wrong = frames_seen = frames_there = 0;
  reinterpret_cast<void (*)(void (*)())>(code)(check);
  EXPECT_EQ(finished, 0u);
  EXPECT_EQ(frames_seen, 1u);
  ::munmap(memory, 4096);
}
#endif

TEST(FrameRecords, OfCodeThatCallsInEveryWayAreNeverWrong) {
  for (unsigned round = 0; round < 200; ++round) {
    callLibrary<msl_test_plain_first>(12);
    callLibrary<msl_test_fast_first>(12);
    callLibrary<msl_test_bare_first>(12);
  }
}

} // namespace msleaks::test
