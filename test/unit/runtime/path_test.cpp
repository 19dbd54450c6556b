// Tests that call paths are right, whatever path the thread has stored from its last walk.
#include "path_nodes.h"
#include "thread_path.h"
#include "unwound.h"

#include "msleaks/runtime/path.h"
#include "msleaks/runtime/record.h"

#include <chrono>
#include <csignal>
#include <optional>
#include <sys/time.h>

namespace msleaks::test {
namespace {

Nodes *nodes;
unsigned same, different;
Calls theirs;

[[gnu::noinline]] void check() {
  const runtime::CallerFrame caller = runtime::callerFrame();
  const uint32_t number = __msl_path(caller.return_address, caller.stack_pointer, caller.frame_pointer, 0);
  const Path path = nodes->pathOf(number);
  ++((number & abi::kPathSite) != 0 && path.complete && sameCalls(path.calls, unwound(theirs)) ? same : different);
}

int passed() { return different == 0 && same > 0 ? 0 : 1; }

[[gnu::noinline]] void first(int depth);
[[gnu::noinline]] void second(int depth) {
  [[maybe_unused]] volatile char filler[40];
  filler[0] = 1;
  if (depth > 0)
    first(depth - 1);
  check();
  filler[1] = 1;
}
void first(int depth) {
  [[maybe_unused]] volatile char filler[72];
  filler[0] = 1;
  if (depth % 3 == 0)
    check();
  if (depth > 0)
    (depth % 2 != 0 ? first : second)(depth - 1);
  check();
  filler[1] = 1;
}

// Calls different functions from one call site. So two paths through this call site may have only their outer calls in
// common.
[[gnu::noinline]] void callEither(void (*function)(int), int depth) {
  function(depth);
  check();
}

uint32_t random_state = 1;
uint32_t randomNumber() { return random_state = random_state * 1664525 + 1013904223; }

[[gnu::noinline]] void wander(int depth) {
  [[maybe_unused]] alignas(64) volatile char filler[64];
  filler[0] = 1;
  for (int i = 0; i < 3; ++i) {
    if (randomNumber() % 4 == 0)
      check();
    if (depth > 0 && randomNumber() % 3 != 0)
      (randomNumber() % 2 != 0 ? wander : first)(depth - 1);
  }
  filler[1] = 1;
}

} // namespace

TEST(Paths, AreWhatTheUnwinderSaysWhateverCameBefore) {
  const SessionDirectory session;
  EXPECT_EQ(session.runChild([&] {
    Nodes own(session);
    nodes = &own;
    check();
    for (int depth = 0; depth < 30; ++depth)
      first(depth);
    for (int i = 0; i < 20; ++i)
      callEither(i % 2 != 0 ? first : second, i % 4);
    for (int i = 0; i < 200; ++i)
      wander(6);
    _exit(passed());
  }),
            0);
}

TEST(Paths, EndWithTheSiteOfAnInstrumentedCall) {
  abi::Flags flags;
  flags.call_stack = abi::CallStack::All;
  const SessionDirectory session(flags);
  EXPECT_EQ(session.runChild([&] {
    Nodes own(session);
    const runtime::CallerFrame caller = runtime::callerFrame();
    const auto take = [&](uint32_t site) {
      return __msl_path(caller.return_address, caller.stack_pointer, caller.frame_pointer, site);
    };
    const uint32_t plain = take(0), seven = take(7), eight = take(8);
    const bool right = own.pathOf(seven).site == 7 && own.pathOf(eight).site == 8 &&
                       own.pathOf(seven).calls == own.pathOf(plain).calls && take(7) == seven;
    _exit(right ? 0 : 1);
  }),
            0);
}

namespace {
[[gnu::noinline]] void recurseTo(int depth) {
  [[maybe_unused]] volatile char filler = 1;
  if (depth > 0)
    recurseTo(depth - 1);
  else {
    const runtime::CallerFrame caller = runtime::callerFrame();
    const Path path = nodes->pathOf(__msl_path(caller.return_address, caller.stack_pointer, caller.frame_pointer, 0));
    const auto all = unwound(theirs);
    const bool cut = all.size() > 16;
    ++(sameCalls(path.calls, all.first(std::min<size_t>(all.size(), 16))) && path.complete == !cut ? same : different);
  }
  filler = 2;
}
} // namespace

TEST(Paths, OfADeepStackAreItsInnermostCalls) {
  abi::Flags flags;
  flags.call_stack_depth = 16;
  const SessionDirectory session(flags);
  EXPECT_EQ(session.runChild([&] {
    Nodes own(session);
    nodes = &own;
    for (int round = 0; round < 3; ++round)
      for (const int depth : {1, 2, 30, 3, 31, 31, 5, 1000, 1001, 4})
        recurseTo(depth);
    _exit(passed());
  }),
            0);
}

namespace {
[[gnu::noinline]] Path pathToCaller() {
  const runtime::CallerFrame caller = runtime::callerFrame();
  return nodes->pathOf(__msl_path(caller.return_address, caller.stack_pointer, caller.frame_pointer, 0));
}

// Returns the path of a walk that finds `word` in place of its caller's return address.
[[gnu::noinline]] Path pathBelow(uint64_t word) {
  auto *record = static_cast<volatile uint64_t *>(__builtin_frame_address(0)); // {frame pointer, return address}
  const uint64_t kept = record[1];
  record[1] = word;
  const Path path = pathToCaller();
  record[1] = kept;
  return path;
}
} // namespace

// A word that is no return address ends the path. The walk must not mistake the word for the number of an instrumented
// place.
TEST(Paths, HaveNoCallThatNobodyMade) {
  const SessionDirectory session;
  EXPECT_EQ(session.runChild([&] {
    Nodes own(session);
    nodes = &own;
    for (int round = 0; round < 2; ++round)
      for (const uint64_t word : {uint64_t{0}, uint64_t{7}, uint64_t{1} << 62 | 5, uint64_t{1} << 63 | 5}) {
        const Path path = pathBelow(word);
        ++(path.calls.size() == 1 && path.site == 0 && !path.complete ? same : different);
      }
    _exit(passed());
  }),
            0);
}

// If a handler interrupts a walk, both the handler's path and the interrupted path are right.
TEST(Paths, OfHandlersAndOfWhatTheyInterruptAreRight) {
  const SessionDirectory session;
  EXPECT_EQ(session.runChild([&] {
    Nodes own(session);
    nodes = &own;
    static std::vector<uint32_t> from_handlers;
    from_handlers.reserve(100'000);
    struct sigaction action{};
    action.sa_handler = [](int) {
      const runtime::CallerFrame caller = runtime::callerFrame();
      if (from_handlers.size() < from_handlers.capacity())
        from_handlers.push_back(__msl_path(caller.return_address, caller.stack_pointer, caller.frame_pointer, 0));
    };
    ::sigaction(SIGALRM, &action, nullptr);
    const itimerval often{{0, 50}, {0, 50}}, never{};
    const auto callAll = [] {
      for (int i = 0; i < 300; ++i)
        first(i % 12);
    };
    callAll(); // binds all symbols, since a walk may find no table in the loader's own code
    ::setitimer(ITIMER_REAL, &often, nullptr);
    // The loop may last ten seconds, since some kernels have coarse timers.
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    for (callAll(); from_handlers.size() < 10 && std::chrono::steady_clock::now() < until;)
      callAll();
    ::setitimer(ITIMER_REAL, &never, nullptr);
    // The path must contain the handler's caller, which is the kernel's frame, and then the interrupted function.
    size_t complete = 0;
    for (const uint32_t number : from_handlers) {
      const Path path = own.pathOf(number);
      complete += path.complete;
      if ((number & abi::kPathSite) != 0 && path.calls.size() < (path.complete ? 3 : 2))
        ++different;
    }
    if (complete < from_handlers.size() / 2)
      _exit(3);
    _exit(from_handlers.empty() ? 2 : passed());
  }),
            0)
      << "1: a path is wrong; 2: no handler ran; 3: most paths do not end where the stack begins";
}

TEST(Paths, WithoutARequestAreCallers) {
  const SessionDirectory session;
  session.control().enabled = ~abi::kPathBits;
  EXPECT_EQ(session.runChild([&] {
    const runtime::CallerFrame caller = runtime::callerFrame();
    const uint32_t site = runtime::pathOfCaller(runtime::enabledWord(), caller);
    _exit((site & abi::kCallerSite) != 0 &&
                  __msl_path(caller.return_address, caller.stack_pointer, caller.frame_pointer, 5) == 5
              ? 0
              : 1);
  }),
            0);
}

namespace {
// Takes so many paths again and again that the thread stores its recent paths.
void loop() {
  for (int i = 0; i < 60; ++i)
    for (int depth = 0; depth < 30; ++depth)
      callEither(i % 2 != 0 ? first : second, depth);
  ++(__msl_thread.path->recent != nullptr ? same : different);
}
} // namespace

// The child of a fork must not use the numbers of its parent's recent paths. It takes them from the same call of
// loop().
TEST(Paths, OfALoopAreRightAlsoInAForkedChild) {
  const SessionDirectory session;
  EXPECT_EQ(session.runChild([&] {
    std::optional<Nodes> own(session);
    nodes = &*own;
    for (int process = 0; process < 2; ++process) {
      loop();
      if (process == 1 || different != 0)
        _exit(passed());
      if (const pid_t child = ::fork(); child != 0)
        _exit(SessionDirectory::waitFor(child));
      own.emplace(session);
      callEither(second, 1); // so that the nodes have other numbers than in the parent
    }
  }),
            0);
}

// A fork's child has its own tree of paths, but its thread still stores the parent's last path. The child must not use
// the numbers of that path.
TEST(Paths, OfAForkedChildAreItsOwn) {
  const SessionDirectory session;
  EXPECT_EQ(session.runChild([&] {
    Nodes own(session);
    nodes = &own;
    first(8);
    const pid_t child = ::fork();
    if (child == 0) {
      Nodes of_child(session);
      nodes = &of_child;
      first(8);
      _exit(passed());
    }
    const int status = SessionDirectory::waitFor(child);
    _exit(status != 0 ? status : passed());
  }),
            0);
}

} // namespace msleaks::test
