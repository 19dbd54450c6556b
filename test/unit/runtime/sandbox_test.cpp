// Tests programs that forbid system calls. The runtime must make no forbidden call, because the kernel would kill the
// program. Events that are not recorded must be counted.
#include "../sanitizers.h"
#include "callbacks_fixture.h"

#include "msleaks/runtime/caller.h"
#include "msleaks/runtime/path.h"
#include "msleaks/runtime/raw_call.h"
#include "msleaks/runtime/record.h"
#include "msleaks/runtime/sandbox.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

namespace msleaks::test {
namespace {

class Sandbox : public testing::Test {
protected:
  // The filters forbid system calls of ThreadSanitizer's background thread. The kernel would kill the process.
  void SetUp() override {
    if (kThreadSanitizer)
      GTEST_SKIP() << "skipped: the filters forbid calls of TSan itself";
  }
};

constexpr int kKilled = 1000 + SIGSYS, kCannot = 77;
constexpr uint64_t kMany = 100'000;

void recordSome(uint64_t count, uint64_t first = 0) {
  for (uint64_t i = 0; i < count; ++i)
    runtime::recordAlloc(abi::Heap::Host, 0, 1, first + i, 0);
}

sock_filter statement(uint16_t code, uint32_t value) { return BPF_STMT(code, value); }

// Returns a filter. If `are_allowed`, the filter allows only `calls`. Otherwise it forbids only `calls`. A forbidden
// call kills the process.
std::vector<sock_filter> rules(const std::vector<long> &calls, bool are_allowed) {
  std::vector<sock_filter> rules{statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const long call : calls) {
    rules.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 1));
    rules.push_back(statement(BPF_RET | BPF_K, are_allowed ? SECCOMP_RET_ALLOW : SECCOMP_RET_KILL_PROCESS));
  }
  rules.push_back(statement(BPF_RET | BPF_K, are_allowed ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ALLOW));
  return rules;
}

void install(const std::vector<sock_filter> &rules, unsigned flags = 0) {
  const sock_fprog program{static_cast<unsigned short>(rules.size()), const_cast<sock_filter *>(rules.data())};
  __msl_enter_sandbox(false);
  if (runtime::rawCall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1) != 0 ||
      runtime::rawCall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, reinterpret_cast<long>(&program)) != 0)
    _exit(kCannot);
}

// Ends a program in a sandbox at once, without exit handlers, which could make forbidden calls.
[[noreturn]] void leave(int status) {
  runtime::rawCall(SYS_exit_group, status);
  __builtin_unreachable();
}

// AddressSanitizer calls sigaltstack before each call that does not return. So the filter must allow sigaltstack.
void enter(std::vector<long> allowed = {SYS_exit_group}, unsigned flags = 0) {
  if (kAddressSanitizer)
    allowed.push_back(SYS_sigaltstack);
  install(rules(allowed, true), flags);
}

void expectAllCounted(const SessionDirectory &session, uint64_t produced) {
  const auto arenas = session.arenas();
  ASSERT_EQ(arenas.size(), 1u);
  EXPECT_EQ(arenas[0]->header().filters.load(), 1u);
  const Account account = sum(arenas);
  EXPECT_EQ(account.produced, produced);
  EXPECT_EQ(account.produced, session.drain().size() + account.dropped);
}

TEST_F(Sandbox, AFullRingDoesNotGrowBehindAFilter) {
  for (const auto policy : {abi::OnFull::Block, abi::OnFull::Drop}) {
    const SessionDirectory session({.on_full = policy, .ring_kib = 16, .ring_max_kib = 64});
    session.control().heartbeat_ns = UINT64_MAX; // so that the collector does not count as dead
    ASSERT_EQ(session.runChild([] {
      recordSome(10);
      enter();
      recordSome(kMany);
      leave(0);
    }),
              0);
    expectAllCounted(session, kMany + 10);
    EXPECT_GT(sum(session.arenas()).dropped, 0u);
  }
}

// In strict mode, reading the processor's counter is forbidden, too. So no event can be recorded.
TEST_F(Sandbox, StrictModeToo) {
  const SessionDirectory session({.on_full = abi::OnFull::Drop, .ring_kib = 16, .ring_max_kib = 64});
  ASSERT_EQ(session.runChild([] {
    recordSome(10);
    __msl_enter_sandbox(true);
    if (runtime::rawCall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
      _exit(kCannot);
    recordSome(kMany);
    runtime::rawCall(SYS_exit, 0);
  }),
            0);
  expectAllCounted(session, kMany + 10);
}

TEST_F(Sandbox, RoomThatTheCollectorMakesIsUsed) {
  const SessionDirectory session({.ring_kib = 16, .ring_max_kib = 16});
  ASSERT_EQ(session.runChild([] {
    recordSome(10);
    enter();
    recordSome(kMany);
    abi::RingHeader &ring = *__msl_thread.ring;
    ring.tail = ring.head.load(); // frees the ring's slots, as the collector does
    recordSome(100, kMany);
    leave(0);
  }),
            0);
  const auto events = session.drain();
  ASSERT_EQ(events.size(), 100u);
  EXPECT_EQ(events[0].event.as<abi::AllocEvent>().address, kMany);
}

// With the clock Monotonic, the runtime would have to ask the kernel for the time. So events after the installation of
// the filter are dropped.
TEST_F(Sandbox, WithoutAClockOfTheProcessorEventsAreDropped) {
  const SessionDirectory session({.ring_kib = 16, .ring_max_kib = 64});
  session.control().clock = abi::ClockKind::Monotonic;
  ASSERT_EQ(session.runChild([] {
    recordSome(10);
    enter();
    recordSome(50);
    leave(0);
  }),
            0);
  expectAllCounted(session, 60);
  EXPECT_EQ(sum(session.arenas()).dropped, 50u);
}

[[gnu::noinline]] uint32_t pathHere() {
  const runtime::CallerFrame frame = runtime::callerFrame();
  return __msl_path(frame.return_address, frame.stack_pointer, frame.frame_pointer, 0);
}

// The first call of the allocator ends without a callback. The runtime removes it from the list of open calls when the
// second call begins.
TEST_F(Sandbox, AnAbandonedCallIsForgottenBehindIt) {
  const SessionDirectory session;
  EXPECT_EQ(session.runChild([] {
    recordSome(1);
    enter();
    inside([] { __msl_before(6, kUser); });
    __msl_before(7, kUser);
    leave(__msl_thread.call.open_calls == 1 ? 0 : 1);
  }),
            0);
}

TEST_F(Sandbox, NewCallersAndPathsAreFoundInWhatWasReserved) {
  const SessionDirectory session;
  const int status = session.runChild([] {
    recordSome(1);
    const uint32_t before = pathHere();
    enter();
    const uint32_t caller = runtime::callerSite(reinterpret_cast<uint64_t>(&pathHere) + 1), behind = pathHere();
    recordSome(1);
    leave((before & behind & abi::kPathSite) != 0 && before != behind && (caller & abi::kCallerSite) != 0 ? 0 : 1);
  });
  EXPECT_EQ(status, 0);
}

// Two threads start before the filter is installed, and record their first event afterwards. The filter applies to all
// threads, so these threads cannot create rings. They get spare rings.
TEST_F(Sandbox, ThreadsThatRecordFirstBehindIt) {
  const SessionDirectory session({.ring_kib = 16, .ring_max_kib = 16});
  ASSERT_EQ(session.runChild([] {
    recordSome(10);
    std::atomic<bool> go{false};
    std::atomic<int> ready{0}, done{0};
    std::vector<std::thread> threads;
    for (uint64_t t = 1; t <= 2; ++t)
      threads.emplace_back([&, t] {
        for (++ready; !go;)
          ;
        recordSome(100, t * 1000);
        ++done;
        for (;;)
          ;
      });
    while (ready != 2)
      ;
    enter({SYS_exit_group}, SECCOMP_FILTER_FLAG_TSYNC);
    go = true;
    while (done != 2)
      ;
    leave(0);
  }),
            0);
  EXPECT_EQ(session.drain().size(), 210u);
}

// While the filter is being installed, no thread may be in a system call of the runtime. Two threads of this test often
// make such calls, because their rings grow and they wait for room.
TEST_F(Sandbox, OtherThreadsAreOutOfTheKernelBefore) {
  if (kAddressSanitizer)
    GTEST_SKIP() << "skipped: AddressSanitizer begins a thread by calls that the filter forbids";
  for (int i = 0; i < 20; ++i) {
    const SessionDirectory session({.ring_kib = 16, .ring_max_kib = 1024});
    int status = -1;
    session.collectFrom(session.startChild([i] {
      recordSome(10);
      for (int t = 0; t < 2; ++t)
        std::thread([] {
          for (;;)
            recordSome(1000);
        }).detach();
      usleep(static_cast<useconds_t>(i * 500));
      enter({SYS_exit_group}, SECCOMP_FILTER_FLAG_TSYNC);
      recordSome(1000);
      leave(0);
    }),
                        &status);
    ASSERT_EQ(status, 0);
  }
}

TEST_F(Sandbox, AThreadEndsBehindIt) {
  const SessionDirectory session({.ring_kib = 16, .ring_max_kib = 16});
  ASSERT_EQ(session.runChild([] {
    recordSome(10);
    std::atomic<bool> ready{false}, go{false};
    std::thread thread([&] {
      recordSome(5);
      pathHere();
      for (ready = true; !go;)
        ;
      recordSome(5);
    });
    while (!ready)
      ;
    const std::vector<long> ours{SYS_openat, SYS_close, SYS_fallocate, SYS_getpid, SYS_gettid, SYS_prctl};
    install(rules(ours, false), SECCOMP_FILTER_FLAG_TSYNC);
    go = true;
    thread.join();
    leave(0);
  }),
            0);
  const auto arenas = session.arenas();
  unsigned ended = 0;
  for (uint32_t i = 0; i < arenas[0]->ringCount(); ++i)
    ended += arenas[0]->entry(i).state == abi::RingState::Ended;
  EXPECT_EQ(ended, 1u);
  EXPECT_EQ(session.drain().size(), 20u);
}

TEST_F(Sandbox, AForkedChildIsListedAndItsEventsAreCounted) {
  const SessionDirectory session;
  ASSERT_EQ(session.runChild([] {
    recordSome(10);
    enter({SYS_exit_group, SYS_clone, SYS_wait4, SYS_set_robust_list, SYS_rseq});
    const long pid = runtime::rawCall(SYS_clone, SIGCHLD);
    if (pid == 0) {
      recordSome(7);
      leave(0);
    }
    int status = 0;
    runtime::rawCall(SYS_wait4, pid, reinterpret_cast<long>(&status));
    leave(status == 0 ? 0 : 1);
  }),
            0);
  EXPECT_EQ(session.drain().size(), 10u);
  EXPECT_EQ(session.unseen().dropped.load(), 7u);
  ASSERT_EQ(session.unseen().count.load(), 1u);
  EXPECT_EQ(session.unseen().processes[0].error, abi::kChildOfSandboxed);
}

// Installs a filter, executes this program again, and returns its exit status. The filter allows the calls that the
// dynamic linker needs to open, read and map files. It forbids other calls of the runtime.
int execBehindFilter(const SessionDirectory &session) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  return session.runChild([&self] {
    install(rules({SYS_fallocate, SYS_ftruncate, SYS_getpid, SYS_gettid, SYS_getppid, SYS_prctl, SYS_pidfd_open,
                   SYS_rt_sigprocmask, SYS_lseek, SYS_fchmod, SYS_unlinkat},
                  false));
    runtime::rawCall(SYS_execve, reinterpret_cast<long>(self.c_str()),
                     reinterpret_cast<long>(std::vector<const char *>{self.c_str(), "--record-one", nullptr}.data()),
                     reinterpret_cast<long>(environ));
  });
}

TEST_F(Sandbox, AnExecBehindItIsListed) {
  if (kAddressSanitizer)
    GTEST_SKIP() << "skipped: a sanitizer starts a program by calls that the filter forbids";
  const SessionDirectory session;
  ASSERT_EQ(execBehindFilter(session), 0);
  ASSERT_EQ(session.unseen().count.load(), 1u);
  EXPECT_EQ(session.unseen().processes[0].error, abi::kSandboxed);
  EXPECT_NE(session.unseen().processes[0].pid, 0u);
  EXPECT_NE(session.unseen().processes[0].name[0], 0);
}

// A filter that applies to the collector, too, as in a container, does not count as a sandbox. So the runtime makes its
// usual system calls. This test's filter forbids them, so the kernel kills the process.
TEST_F(Sandbox, AFilterOfTheCollectorIsNone) {
  const SessionDirectory session;
  session.control().seccomp_filters = 1000;
  EXPECT_EQ(execBehindFilter(session), kKilled);
}

TEST_F(Sandbox, AFilterThatIsRefusedChangesNothing) {
  const SessionDirectory session({.ring_kib = 16, .ring_max_kib = 1024});
  ASSERT_EQ(session.runChild([] {
    recordSome(10);
    for (const bool is_strict : {false, true}) {
      __msl_enter_sandbox(is_strict);
      __msl_stay_outside();
    }
    recordSome(5000); // until a larger ring is needed
  }),
            0);
  EXPECT_EQ(session.drain().size(), 5010u);
  EXPECT_EQ(session.arenas()[0]->header().filters.load(), 0u);
}

} // namespace
} // namespace msleaks::test
