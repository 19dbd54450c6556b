// Tests open calls (calls of allocators that have not ended): nested calls, calls without a callback at their end, and
// calls on several stacks.
#include "callbacks_fixture.h"

#include <csignal>
#include <ucontext.h>

namespace msleaks::test {
namespace {

// Mappings that the program's own malloc or realloc makes are memory of this allocator. So code inside them must count
// as inside an allocator.
TEST(Callbacks, AnAnnouncedAllocatorIsInsideItself) {
  const SessionDirectory session;
  EXPECT_EQ(session.runChild([] {
    const auto insideAfter = [](const std::function<void()> &announce) {
      announce();
      const bool inside = runtime::insideAllocator(__msl_thread);
      __msl_cancel(7);
      return inside;
    };
    must(insideAfter([] { __msl_before(7, kMalloc); }));
    must(insideAfter([] { __msl_on_free(7, kRealloc, at(100), 0); }));
    must(!insideAfter([] { __msl_before(7, kMap); }));
    must(!insideAfter([] { __msl_on_free(7, kFree, at(100), 0); }));
  }),
            0);
}

// After a call through a stub, no call may stay open. An open call would slow down later calls of uninstrumented code.
TEST(Callbacks, AStubLeavesNothingBehind) {
  EXPECT_EQ(eventsOf([] {
              __msl_announce(7, kLaunch);
              must(__msl_thread.call.open_calls == 0);
              __msl_on_launch(8, kLaunch, at(100), nullptr, 1, 1, 1, 1, 0);
              __msl_cancel(7);
              mustBePlain();
              __msl_announce(9, kLaunch); // the stub calls a library that is not instrumented
              __msl_cancel(9);
              mustBePlain();
            }),
            "Launch#7 100");
}

TEST(Callbacks, ATailCallOpensNothing) {
  EXPECT_EQ(eventsOf([] {
              __msl_announce(7, kMalloc);
              hookAlloc(100, 16);
              mustBePlain();
            }),
            "Alloc#7 100+16 hook");
}

// Calls that end by a longjmp, or by an exception without a callback, must not pile up in the list of open calls.
TEST(Callbacks, AbandonedCallsAreForgotten) {
  EXPECT_EQ(eventsOf([] {
              for (uint32_t i = 0; i < 100; ++i)
                __msl_before(1000 + i, kUser);
              must(__msl_thread.call.open_calls == 1);
              inside([] { __msl_before(6, kUser); });
              __msl_before(7, kUser);
              hookAlloc(100, 16);
              __msl_on_alloc(7, kUser, at(100), 16);
              mustBePlain();
            }),
            "Alloc#999 100+16 hook | Retarget#7 100+16");
}

// The fibers `lower` and `higher` have two stacks, one below the other. Each fiber begins a call of an allocator, and
// yields inside this call.
ucontext_t lower, higher, back;
alignas(64) char stacks[2][64 << 10];

void allocateAndYield(uint32_t site, ucontext_t &self, ucontext_t &next) {
  __msl_before(site, kUser);
  ::swapcontext(&self, &next);
  const uint64_t address = uint64_t{site} * 100;
  hookAlloc(address, 16);
  __msl_on_alloc(site, kUser, at(address), 16);
}
void runLower() { allocateAndYield(1, lower, higher); }
void runHigher() { allocateAndYield(2, higher, lower); }

void prepare(ucontext_t &fiber, char *stack, void (*run)(), ucontext_t &next) {
  ::getcontext(&fiber);
  fiber.uc_stack = {.ss_sp = stack, .ss_flags = 0, .ss_size = sizeof stacks[0]};
  fiber.uc_link = &next;
  ::makecontext(&fiber, run, 0);
}

TEST(Callbacks, AFiberThatYieldsInsideAnAllocatorKeepsItsCall) {
  EXPECT_EQ(eventsOf([] {
              prepare(lower, stacks[0], runLower, higher);
              prepare(higher, stacks[1], runHigher, back);
              ::swapcontext(&back, &lower);
              mustBePlain();
            }),
            "Alloc#999 100+16 hook | Retarget#1 100+16 | Alloc#999 200+16 hook | Retarget#2 200+16");
}

void allocateInHandler(int) {
  __msl_before(8, kUser);
  hookAlloc(200, 16);
  __msl_on_alloc(8, kUser, at(200), 16);
}

// The handler runs on a stack above the frames that it interrupts. The handler's calls must not end the interrupted
// call.
TEST(Callbacks, AHandlerOnAnotherStackEndsNoCall) {
  EXPECT_EQ(eventsOf([] {
              static char own[64 << 10];
              char local[64 << 10];
              for (char *stack : {own, local}) {
                const stack_t alternate = {.ss_sp = stack, .ss_flags = 0, .ss_size = sizeof own};
                ::sigaltstack(&alternate, nullptr);
                struct sigaction action{};
                action.sa_handler = allocateInHandler;
                action.sa_flags = SA_ONSTACK;
                ::sigaction(SIGUSR1, &action, nullptr);
                inside([] {
                  __msl_before(7, kUser);
                  ::raise(SIGUSR1);
                  hookAlloc(100, 16);
                  __msl_on_alloc(7, kUser, at(100), 16);
                });
              }
            }),
            "Alloc#999 200+16 hook | Retarget#8 200+16 | Alloc#999 100+16 hook | Retarget#7 100+16 | "
            "Alloc#999 200+16 hook | Retarget#8 200+16 | Alloc#999 100+16 hook | Retarget#7 100+16");
}

void nest(uint32_t depth) {
  __msl_before(1000 + depth, kUser);
  if (depth == 0)
    hookAlloc(100, 16);
  else
    nest(depth - 1);
  __msl_on_alloc(1000 + depth, kUser, at(100), 16);
}

// If there is no room for all open calls, the outermost ones are dropped. The only effect is that the block is not
// retargeted to their sites.
TEST(Callbacks, DeepNestingIsBounded) {
  EXPECT_EQ(eventsOf([] {
              nest(runtime::kOpenCalls - 1);
              mustBePlain();
            }).substr(0, 58),
            "Alloc#999 100+16 hook | Retarget#1000 100+16 | Retarget#10");
  EXPECT_EQ(eventsOf([] {
              nest(20);
              mustBePlain();
            }).substr(0, 22),
            "Alloc#999 100+16 hook ");
}

} // namespace
} // namespace msleaks::test
