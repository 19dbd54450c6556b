// Tests that call paths stay right while the program damages the stack, unloads code, or forks during a walk.
#include "../emulated.h"
#include "path_nodes.h"
#include "unwound.h"

#include "msleaks/runtime/path.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <dlfcn.h>
#include <pthread.h>
#include <set>
#include <sys/resource.h>
#include <sys/time.h>

namespace msleaks::test {
namespace {

thread_local Nodes *nodes;
thread_local unsigned same, different;
thread_local Calls theirs;

int passed() { return different == 0 && same > 0 ? 0 : 1; }

[[gnu::always_inline]] inline uint32_t pathHere(uint32_t site = 0) {
  const runtime::CallerFrame caller = runtime::callerFrame();
  return __msl_path(caller.return_address, caller.stack_pointer, caller.frame_pointer, site);
}

[[gnu::noinline]] int check() {
  const uint32_t number = pathHere();
  const Path path = nodes->pathOf(number);
  ++((number & abi::kPathSite) != 0 && path.complete && sameCalls(path.calls, unwound(theirs)) ? same : different);
  return 0;
}

[[gnu::noinline]] void descend(int depth, const std::function<void()> &last) {
  [[maybe_unused]] volatile char filler[24];
  filler[0] = 1;
  if (depth > 0)
    descend(depth - 1, last);
  else
    last();
  filler[1] = 1;
}

uint32_t random_state = 1;
uint32_t randomNumber() { return (random_state = random_state * 1664525 + 1013904223) >> 4; }

void alarmIn(long microseconds) {
  const itimerval once{{0, 0}, {0, microseconds}};
  ::setitimer(ITIMER_REAL, &once, nullptr);
}

abi::Flags allPaths() {
  abi::Flags flags;
  flags.call_stack = abi::CallStack::All;
  return flags;
}

// Runs the body in a thread with a stack of this size.
template <class Body> void runOnStackOf(size_t bytes, Body body) {
  void *memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  pthread_t thread;
  const auto start = [](void *argument) -> void * {
    (*static_cast<Body *>(argument))();
    return nullptr;
  };
  if (::pthread_attr_setstack(&attributes, memory, bytes) != 0 ||
      ::pthread_create(&thread, &attributes, start, &body) != 0)
    _exit(99);
  ::pthread_join(thread, nullptr);
}

} // namespace

// ThreadSanitizer has room for 65,536 calls of a thread, and overwrites its own data if there are more.
TEST(PathFaults, AHundredThousandCallsAreCut) {
  constexpr int kDeep = kThreadSanitizer ? 50'000 : 100'000;
  for (const uint32_t depth : {0u, 1u, abi::kMaxPathDepth}) {
    abi::Flags flags;
    if (depth != 0)
      flags.call_stack_depth = depth;
    const SessionDirectory session(flags);
    EXPECT_EQ(session.runChild([&] {
      runOnStackOf(size_t{1} << 30, [&] {
        Nodes own(session);
        const auto expectCut = [&] {
          const uint32_t number = pathHere();
          const Path path = own.pathOf(number);
          const auto all = unwound(theirs).first(flags.call_stack_depth);
          ++((number & abi::kPathSite) != 0 && !path.complete && sameCalls(path.calls, all) ? same : different);
        };
        for (const int calls : {kDeep, 2000, kDeep, kDeep - 1})
          descend(calls, expectCut);
        _exit(passed());
      });
    }),
              0)
        << depth;
  }
}

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
namespace {

struct TrueFrame {
  uint64_t address, stack_pointer; // the same values as in unwind::Frame
};
std::vector<TrueFrame> true_frames;

_Unwind_Reason_Code addTrueFrame(_Unwind_Context *context, void *) {
  int before = 0;
  if (const uint64_t address = _Unwind_GetIPInfo(context, &before); address != 0)
    true_frames.push_back({address, _Unwind_GetCFA(context)});
  return _URC_NO_REASON;
}

uint64_t anyWord(const uint64_t *stack) {
  switch (randomNumber() % 6) {
  case 0:
    return 0;
  case 1:
    return randomNumber();
  case 2:
    return reinterpret_cast<uint64_t>(stack) + randomNumber() % 4096;
  case 3:
    return reinterpret_cast<uint64_t>(&check) + randomNumber() % 64;
  case 4:
    return reinterpret_cast<uint64_t>(&std::malloc) + randomNumber() % 64;
  default:
    return ~uint64_t{0} << randomNumber() % 60;
  }
}

[[gnu::noinline]] uint32_t pathOfCaller() { return pathHere(); }

// Overwrites some or all words of the stack from a random word between `begin` and `end` on, and then reads the call
// path. The path must contain all calls whose frames are below the first damaged word.
[[gnu::noinline]] void takeOnDamagedStack(Nodes &own, uint64_t *begin, uint64_t *end) {
  static uint64_t kept[1 << 13];
  const uint64_t words = static_cast<uint64_t>(end - begin);
  if (words > std::size(kept))
    _exit(98);
  std::memcpy(kept, begin, words * sizeof *begin);
  uint64_t *first = begin + randomNumber() % words;
  const uint32_t one_in = 1u << randomNumber() % 6;
  for (uint64_t *at = first; at < end; ++at)
    if (at == first || randomNumber() % one_in == 0)
      *at = anyWord(at);
  const uint32_t number = pathOfCaller();
  std::memcpy(begin, kept, words * sizeof *begin);
  const Path path = own.pathOf(number);
  // The walk read a frame's address below the frame's stack pointer. So the address is right if this stack pointer is
  // not above the first damaged word.
  size_t right = 1;
  while (right < true_frames.size() && true_frames[right].stack_pointer <= reinterpret_cast<uint64_t>(first))
    ++right;
  // The path begins with one call more than true_frames, so its indices are one higher.
  bool same_calls = (number & abi::kPathSite) != 0 && path.calls.size() > right;
  for (size_t i = 1; same_calls && i < right; ++i)
    same_calls = path.calls[i + 1] == true_frames[i].address;
  ++(same_calls ? same : different);
}

} // namespace

TEST(PathFaults, OfAnOverwrittenStackAreRightAsFarAsItIs) {
  const SessionDirectory session;
  EXPECT_EQ(session.runChild([&] {
    Nodes own(session);
    nodes = &own;
    uint64_t outermost = 0;
    descend(40, [&] {
      true_frames.clear();
      _Unwind_Backtrace(addTrueFrame, nullptr);
      outermost = true_frames.at(35).stack_pointer;
      auto *begin = reinterpret_cast<uint64_t *>(true_frames.at(3).stack_pointer);
      for (int i = 0; i < 20'000; ++i) {
        takeOnDamagedStack(own, begin, reinterpret_cast<uint64_t *>(outermost));
        if (i % 5 == 0)
          check(); // the stack is repaired, so the path is right again
      }
    });
    _exit(passed());
  }),
            0);
}
#endif

namespace {

// Opens a library, calls `function` from the library, and closes it with the calls that the hook of dlclose makes.
void callFrom(const std::string &path, int (*function)()) {
  void *library = ::dlopen(path.c_str(), RTLD_NOW);
  reinterpret_cast<int (*)(int (*)())>(::dlsym(library, "msl_test_call"))(function);
  __msl_unloading();
  ::dlclose(library);
  __msl_unloaded();
}

} // namespace

// Two copies of a library are loaded in turn at the same address, while other threads walk their stacks. The paths must
// be right. The threads map memory, too, so a copy is loaded elsewhere now and then, and under an emulator often.
TEST(PathFaults, WhileAnotherThreadClosesLibraries) {
  constexpr int kRounds = kThreadSanitizer ? 300 : 3000;
  const SessionDirectory session;
  const std::string copies[] = {session.path() / "first.so", session.path() / "second.so"};
  for (const std::string &copy : copies)
    std::filesystem::copy_file(MSL_LOADABLE, copy);
  static std::set<uint32_t> images[2];
  EXPECT_EQ(session.runChild([&] {
    static std::atomic<bool> done{false};
    static std::atomic<unsigned> wrong{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i)
      threads.emplace_back([&] {
        Nodes own(session);
        nodes = &own;
        for (int depth = 0; !done; depth = (depth + 1) % 20)
          descend(depth, check);
        wrong += different;
      });
    Nodes own(session);
    nodes = &own;
    static uint32_t number;
    for (int round = 0; round < kRounds; ++round) {
      callFrom(copies[round % 2], [] { return check(), static_cast<int>(number = pathHere()); });
      images[round % 2].insert(own.imageOf(number));
    }
    done = true;
    for (std::thread &thread : threads)
      thread.join();
    const bool same_place = images[0].size() + images[1].size() < kRounds / 10;
    const bool apart =
        !images[0].contains(0) && !images[1].contains(0) &&
        std::none_of(images[0].begin(), images[0].end(), [](auto image) { return images[1].contains(image); });
    _exit(wrong != 0 ? 2 : !apart ? 3 : same_place || isEmulated() ? passed() : 4);
  }),
            0);
}

namespace {

// Calls the body through one of 256 different paths: each bit chooses between two call sites.
[[gnu::noinline]] void turn(unsigned bits, unsigned left, const std::function<void()> &body) {
  if (left == 0) {
    body();
  } else if ((bits & 1) != 0) {
    turn(bits >> 1, left - 1, body);
    __asm__ volatile("# one line" : : : "memory");
  } else {
    turn(bits >> 1, left - 1, body);
    __asm__ volatile("# the other" : : : "memory");
  }
}

} // namespace

// A library that is loaded again must have the same paths as before, for each of its callers.
TEST(PathFaults, AReopenedLibraryIsFoundBehindEachOfItsCallers) {
  const SessionDirectory session;
  const std::string copy = session.path() / "copy.so";
  std::filesystem::copy_file(MSL_LOADABLE, copy);
  EXPECT_EQ(session.runChild([&] {
    Nodes own(session);
    nodes = &own;
    for (int round = 0; round < 2; ++round)
      for (unsigned bits = 0; bits < 256; ++bits)
        turn(bits, 8, [&] { callFrom(copy, check); });
    _exit(passed());
  }),
            0);
}

// Several threads load and close libraries. So one thread may unmap memory that another thread's walk reads. All paths
// must be right.
TEST(PathFaults, WhileManyThreadsCloseLibraries) {
  constexpr int kRounds = kThreadSanitizer ? 200 : 2000;
  const SessionDirectory session;
  std::string copies[3];
  for (int i = 0; i < 3; ++i)
    std::filesystem::copy_file(MSL_LOADABLE, copies[i] = session.path() / (std::to_string(i) + ".so"));
  EXPECT_EQ(session.runChild([&] {
    static std::atomic<unsigned> failed{0};
    std::vector<std::thread> threads;
    for (const std::string &copy : copies)
      threads.emplace_back([&] {
        Nodes own(session);
        nodes = &own;
        for (int round = 0; round < kRounds; ++round)
          callFrom(copy, check);
        failed += static_cast<unsigned>(passed());
      });
    for (std::thread &thread : threads)
      thread.join();
    _exit(failed == 0 ? 0 : 1);
  }),
            0);
}

// Forks while other threads are in the middle of a walk. The paths in the children must be right.
TEST(PathFaults, OfChildrenThatAreForkedMeanwhileAreTheirOwn) {
  const SessionDirectory session(allPaths());
  EXPECT_EQ(session.runChild([&] {
    static std::atomic<bool> done{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i)
      threads.emplace_back([] {
        for (uint32_t site = 1; !done; site = site % 1'000'000 + 1) // so new nodes are added all the time
          descend(static_cast<int>(site % 7), [site] { pathHere(site); });
      });
    unsigned failed = 0;
    for (int i = 0; i < 40; ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::alarm(20); // ends a child that hangs
        Nodes own(session);
        nodes = &own;
        for (int depth = 0; depth < 10; ++depth)
          descend(depth, check);
        _exit(passed());
      }
      failed += SessionDirectory::waitFor(child) != 0;
    }
    done = true;
    for (std::thread &thread : threads)
      thread.join();
    _exit(failed == 0 ? 0 : 1);
  }),
            0);
}

namespace {

// Exit statuses of the children. If a child fails, the test's process exits with the same status.
constexpr int kRight = 0, kNoArena = 2, kOfTheParent = 3, kWrongLater = 4;
constexpr int kTooManyOfTheParent = 5, kSignal = 100, kForks = 150;
volatile int forks, of_the_parent, failure;
volatile bool in_child;

void forkInHandler(int) {
  if (in_child)
    return;
  const pid_t child = ::fork();
  in_child = child == 0;
  if (in_child)
    return;
  const int status = SessionDirectory::waitFor(child);
  of_the_parent = of_the_parent + (status == kOfTheParent);
  if (failure == 0 && status != kRight && status != kOfTheParent)
    failure = status < 1000 ? status : status - 1000 + kSignal;
  forks = forks + 1;
}

// Checks the path number that the child got from the interrupted walk, and exits. If it is a number of the parent's
// tree, the child may have no node with this number.
[[noreturn]] void judgeInChild(const SessionDirectory &session, uint32_t number, uint32_t site) {
  if (number != site && session.arenas().empty())
    _exit(kNoArena);
  Nodes own(session);
  nodes = &own;
  check();
  if (passed() != 0)
    _exit(kWrongLater);
  _exit(number != site && own.pathOf(number).site != site ? kOfTheParent : kRight);
}

} // namespace

// The next test looks up numbers of another process. This process must have no nodes with such high numbers.
TEST(PathFaults, ANumberOfAnotherProcessHasNoPath) {
  const SessionDirectory session(allPaths());
  EXPECT_EQ(session.runChild([&] {
    pathHere(1);
    Nodes own(session);
    bool is_empty = true;
    for (uint32_t number = abi::kPathBlockNodes; number < 2 * abi::kPathBlockNodes; ++number)
      is_empty = is_empty && own.pathOf(number).calls.empty();
    _exit(is_empty ? 0 : 1);
  }),
            0);
}

// A signal handler forks in the middle of a walk. The child returns into the walk, but has a new tree of paths. So the
// walk must not return a number from the parent's tree.
//
// At its end, a walk checks whether the process has forked. It cannot notice a fork right after this check. So the test
// accepts wrong numbers in fewer than a tenth of the children. Without the check, two thirds would be wrong.
TEST(PathFaults, ThatAForkInAHandlerCutsShortAreNone) {
  const SessionDirectory session(allPaths());
  EXPECT_EQ(session.runChild([&] {
    struct sigaction action{};
    action.sa_handler = forkInHandler;
    ::sigaction(SIGALRM, &action, nullptr);
    int armed = -1;
    for (uint32_t site = 1; forks < kForks; ++site) {
      if (armed != forks) {
        armed = forks;
        alarmIn(1 + static_cast<long>(randomNumber() % 100));
      }
      descend(static_cast<int>(site % 9), [&] {
        const uint32_t number = pathHere(site);
        if (in_child)
          judgeInChild(session, number, site);
      });
    }
    _exit(failure != 0 ? failure : of_the_parent < kForks / 10 ? 0 : kTooManyOfTheParent);
  }),
            0);
}

// If memory for new paths was refused, the runtime requests it again only after many more paths.
TEST(PathFaults, ThatAreRefusedAreTriedAgainLater) {
  const SessionDirectory session(allPaths());
  EXPECT_EQ(session.runChild([] {
    uint32_t site = 1, refused = 0;
    pathHere(site++);
    rlimit usual{};
    ::getrlimit(RLIMIT_NOFILE, &usual);
    const rlimit none{0, usual.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
    while (site < 10'000 && pathHere(site) != site)
      ++site; // skips the paths for which there is still room
    ::setrlimit(RLIMIT_NOFILE, &usual);
    while (refused < 10'000 && pathHere(site) == site)
      ++refused;
    _exit(refused == 1024 ? 0 : 1);
  }),
            0);
  EXPECT_EQ(session.arenas().at(0)->header().paths_refused.load(), 1025u);
}

} // namespace msleaks::test
