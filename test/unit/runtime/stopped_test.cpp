// Tests sessions that are stopped or started during a call. The call must be recorded once or not at all.
#include "callbacks_fixture.h"

namespace msleaks::test {
namespace {

void allocate(const std::function<void()> &meanwhile) {
  __msl_before(7, kMalloc);
  meanwhile();
  __msl_on_alloc(7, kMalloc, at(100), 16);
}

// Makes the process find its session. A process does this at its first event, or when an image is armed.
void findStopped() { hookAlloc(50, 1); }

struct Stopped : testing::Test {
  SessionDirectory session;
  void start() const { session.control().enabled = abi::enabledFor(~abi::kKernelEvidence, abi::CallStack::None); }
  void stop() const { session.control().enabled = 0; }
};

TEST_F(Stopped, NothingIsLeftForAHook) {
  stop();
  EXPECT_EQ(eventsIn(session,
                     [&] {
                       findStopped();
                       allocate([] { mustBePlain(); });
                       __msl_on_free(8, kFree, at(100), 0);
                       mustBePlain();
                       __msl_on_launch(9, kLaunch, at(1), nullptr, 1, 1, 1, 1, 0);
                       mustBePlain();
                       __msl_on_copy(9, kDevice, at(1), at(2), 3, nullptr, 0);
                       mustBePlain();
                     }),
            "");
}

TEST_F(Stopped, AStartBeforeTheHookIsOneEvent) {
  stop();
  EXPECT_EQ(eventsIn(session,
                     [&] {
                       findStopped();
                       allocate([&] {
                         start();
                         hookAlloc(100, 16);
                       });
                       allocate([] { hookAlloc(100, 16); });
                     }),
            "Alloc#999 100+16 hook | Alloc#7 100+16 hook");
}

// The session starts after the hook inside the call has run. So the block counts as allocated before the start, and is
// not recorded.
TEST_F(Stopped, AStartBehindTheHookIsNone) {
  stop();
  EXPECT_EQ(eventsIn(session,
                     [&] {
                       findStopped();
                       allocate([&] { start(); });
                       mustBePlain();
                     }),
            "");
}

TEST_F(Stopped, AStopClosesWhatIsOpen) {
  EXPECT_EQ(eventsIn(session,
                     [&] {
                       allocate([&] { stop(); });
                       mustBePlain();
                       start();
                       allocate([&] {
                         hookAlloc(100, 16);
                         stop();
                       });
                       mustBePlain();
                     }),
            "Alloc#7 100+16 hook");
}

TEST_F(Stopped, AReallocKeepsItsHalvesTogether) {
  const auto reallocate = [](const std::function<void()> &meanwhile) {
    __msl_on_free(7, kRealloc, at(100), 0);
    meanwhile();
    __msl_on_alloc(7, kRealloc, at(200), 32);
  };
  EXPECT_EQ(eventsIn(session,
                     [&] {
                       reallocate([&] { stop(); });
                       mustBePlain();
                       reallocate([&] { start(); });
                       mustBePlain();
                       reallocate([] {});
                     }),
            "Free#7 100 realloc | Free#7 100 realloc | Alloc#7 200+32 realloc");
}

} // namespace
} // namespace msleaks::test
