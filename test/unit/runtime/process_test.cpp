// Tests recording in processes: after all kinds of fork, after an exec, and without a session.
#include "session_fixture.h"

#include "msleaks/runtime/leaving.h"
#include "msleaks/runtime/note.h"
#include "msleaks/runtime/record.h"

#include <algorithm>
#include <sched.h>
#include <set>
#include <sys/resource.h>
#include <sys/syscall.h>

namespace msleaks::test {
namespace {

void recordOne(uint64_t address) { runtime::recordAlloc(abi::Heap::Host, 0, 1, address, 0); }

std::set<uint64_t> addressesIn(const ArenaFile &arena) {
  std::vector<ReadEvent> events;
  for (uint32_t i = 0; i < arena.ringCount(); ++i)
    arena.drain(i, events);
  std::set<uint64_t> addresses;
  for (const ReadEvent &read : events)
    addresses.insert(read.event.as<abi::AllocEvent>().address);
  return addresses;
}

std::string commandOf(const ArenaFile &arena) { return {arena.header().command, arena.header().command_bytes}; }

void expectTwoArenas(const SessionDirectory &session) {
  const auto arenas = session.arenas();
  ASSERT_EQ(arenas.size(), 2u);
  const bool first_is_parent = arenas[1]->header().parent_pid == arenas[0]->header().pid;
  const ArenaFile &parent = *arenas[first_is_parent ? 0 : 1], &child = *arenas[first_is_parent ? 1 : 0];
  EXPECT_EQ(child.header().parent_pid, parent.header().pid);
  EXPECT_EQ(child.header().exec_id, parent.header().exec_id);
  EXPECT_EQ(child.header().ancestor_pid, parent.header().pid);
  EXPECT_EQ(child.header().ancestor_attach_ns, parent.header().attach_ns);
  EXPECT_EQ(child.header().pid_namespace, parent.header().pid_namespace);
  EXPECT_EQ(commandOf(child), commandOf(parent));
  EXPECT_FALSE(commandOf(child).empty());
  if ((parent.header().process_birth & abi::kBirthIsInode) != 0) { // start times are in clock ticks, and may be equal
    EXPECT_TRUE(abi::isOtherProcess(child.header().process_birth, parent.header().process_birth));
  }
  EXPECT_EQ(addressesIn(parent), (std::set<uint64_t>{1, 3}));
  EXPECT_EQ(addressesIn(child), (std::set<uint64_t>{2}));
}

template <class Fork> void forkBetweenRecords(Fork forkNow) {
  recordOne(1);
  const pid_t pid = forkNow();
  if (pid == 0) {
    recordOne(2);
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  recordOne(3);
  _exit(status == 0 ? 0 : 1);
}

TEST(Process, AForkedChildHasItsOwnArena) {
  const SessionDirectory session;
  ASSERT_EQ(session.runChild([] { forkBetweenRecords([] { return fork(); }); }), 0);
  expectTwoArenas(session);
}

TEST(Process, UnderscoreForkToo) {
  const SessionDirectory session;
  ASSERT_EQ(session.runChild([] { forkBetweenRecords([] { return _Fork(); }); }), 0);
  expectTwoArenas(session);
}

TEST(Process, RawCloneToo) {
  const SessionDirectory session;
  ASSERT_EQ(session.runChild([] {
    forkBetweenRecords(
        [] { return static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr)); });
  }),
            0);
  expectTwoArenas(session);
}

// Returns whether vfork shares the parent's memory. ThreadSanitizer and qemu-user replace vfork by a fork.
bool vforkLendsMemory() {
  volatile bool lent = false;
  const pid_t pid = vfork();
  if (pid == 0) {
    lent = true;
    _exit(0);
  }
  waitpid(pid, nullptr, 0);
  return lent;
}

// The child of a vfork uses the parent's memory, so its events are recorded in the parent's ring. (POSIX forbids such
// calls in the child, but instrumented code makes them.)
TEST(Process, AVforkedChildRecordsIntoItsParentsRing) {
  if (!vforkLendsMemory())
    GTEST_SKIP() << "skipped: vfork is a fork here";
  const SessionDirectory session;
  ASSERT_EQ(session.runChild([] {
    recordOne(1);
    const pid_t pid = vfork();
    if (pid == 0) {
      recordOne(2);
      _exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    recordOne(3);
  }),
            0);
  const auto arenas = session.arenas();
  ASSERT_EQ(arenas.size(), 1u);
  EXPECT_EQ(addressesIn(*arenas[0]), (std::set<uint64_t>{1, 2, 3}));
}

TEST(Process, ForksOfForks) {
  const SessionDirectory session;
  ASSERT_EQ(session.runChild([] {
    for (uint64_t generation = 1; generation <= 5; ++generation) {
      recordOne(generation);
      if (const pid_t pid = fork(); pid != 0) {
        int status = 0;
        waitpid(pid, &status, 0);
        _exit(WEXITSTATUS(status));
      }
    }
    recordOne(6);
  }),
            0);
  const auto arenas = session.arenas();
  ASSERT_EQ(arenas.size(), 6u);
  for (const auto &arena : arenas)
    EXPECT_EQ(addressesIn(*arena).size(), 1u);
}

// Returns the sizes of all rings of a process and its child, smallest first.
std::vector<uint64_t> ringsOfForks(const abi::Flags &flags, uint64_t childs_events) {
  const SessionDirectory session(flags);
  EXPECT_EQ(session.runChild([=] {
    forkBetweenRecords([=] {
      const pid_t pid = fork();
      for (uint64_t i = 0; pid == 0 && i < childs_events; ++i)
        recordOne(100 + i);
      return pid;
    });
  }),
            0);
  std::vector<uint64_t> bytes;
  for (const auto &arena : session.arenas())
    for (uint32_t i = 0; i < arena->ringCount(); ++i)
      bytes.push_back(arena->entry(i).bytes - abi::kHeaderBytes);
  std::sort(bytes.begin(), bytes.end());
  return bytes;
}

TEST(Process, AForksChildBeginsWithASmallRing) {
  EXPECT_EQ(ringsOfForks({.ring_kib = 256}, 0), (std::vector<uint64_t>{16 << 10, 256 << 10}));
  EXPECT_EQ(ringsOfForks({.ring_kib = 256}, 600), (std::vector<uint64_t>{16 << 10, 64 << 10, 256 << 10}));
}

TEST(Process, AFlightRecorderKeepsItsSizeInAForksChild) {
  EXPECT_EQ(ringsOfForks({.on_full = abi::OnFull::Overwrite, .ring_kib = 64}, 600),
            (std::vector<uint64_t>{64 << 10, 64 << 10}));
}

// Forks while other threads record and claim rings. The child must not wait forever for a lock of these threads.
TEST(Process, ForkWhileOtherThreadsAreBusy) {
  const SessionDirectory session({.on_full = abi::OnFull::Drop, .ring_kib = 16, .ring_max_kib = 16});
  ASSERT_EQ(session.runChild([] {
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t)
      threads.emplace_back([&stop] {
        while (!stop)
          std::thread([] { recordOne(7); }).join();
      });
    for (int i = 0; i < 50; ++i) {
      const pid_t pid = fork();
      if (pid == 0) {
        recordOne(8);
        _exit(0);
      }
      int status = 0;
      waitpid(pid, &status, 0);
      if (status != 0)
        _exit(1);
    }
    stop = true;
    for (std::thread &thread : threads)
      thread.join();
  }),
            0);
  EXPECT_GE(session.arenas().size(), 51u);
}

// Forks while another thread attaches the process to its session. Parent and child must record, and must not wait
// forever for a lock.
TEST(Process, ForkWhileAnotherThreadAttaches) {
  const SessionDirectory session({.ring_kib = 16, .ring_max_kib = 16});
  constexpr int kTimes = 200;
  for (int i = 0; i < kTimes; ++i)
    ASSERT_EQ(session.runChild([i] {
      std::atomic<bool> go{false};
      std::thread attaching([&go] {
        while (!go) {
        }
        recordOne(1);
      });
      go = true;
      for (int spin = 0; spin < i * 200; ++spin)
        __asm__ volatile("");
      const pid_t pid = fork();
      if (pid == 0) {
        alarm(20); // ends a child that waits for a lock forever
        recordOne(2);
        syscall(SYS_exit_group, 0); // at a normal exit, ThreadSanitizer would report the parent's thread
      }
      attaching.join();
      _exit(SessionDirectory::waitFor(pid) == 0 ? 0 : 1);
    }),
              0);
  EXPECT_EQ(session.arenas().size(), 2u * kTimes);
}

TEST(Process, ExecAttachesAnew) {
  const SessionDirectory session;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  ASSERT_EQ(session.runChild([&self] {
    recordOne(1);
    execl(self.c_str(), self.c_str(), "--record-one", nullptr);
  }),
            0);
  const auto arenas = session.arenas();
  ASSERT_EQ(arenas.size(), 2u);
  EXPECT_EQ(arenas[0]->header().pid, arenas[1]->header().pid);
  EXPECT_NE(arenas[0]->header().attach_ticks, arenas[1]->header().attach_ticks);
  EXPECT_NE(arenas[0]->header().exec_id, arenas[1]->header().exec_id);
  EXPECT_NE(arenas[0]->header().process_birth, 0u);
  EXPECT_EQ(arenas[0]->header().process_birth, arenas[1]->header().process_birth);
}

void expectInert(const char *session) {
  const pid_t pid = fork();
  if (pid == 0) {
    session != nullptr ? setenv(abi::kSessionVariable, session, 1) : unsetenv(abi::kSessionVariable);
    recordOne(1);
    _exit(__msl_enabled->load() == 0 && __msl_process.arena == nullptr ? 0 : 1);
  }
  EXPECT_EQ(SessionDirectory::waitFor(pid), 0) << (session != nullptr ? session : "(none)");
}

TEST(Process, WithoutASessionNothingHappens) {
  expectInert(nullptr);
  expectInert("");
  expectInert("/nonexistent");
  expectInert(std::string(5000, 'x').c_str());
}

TEST(Process, AControlPageThatDoesNotFitIsRefused) {
  const SessionDirectory session;
  session.control().session_version = abi::kSessionVersion + 1;
  expectInert(session.path().c_str());
  session.control().session_version = abi::kSessionVersion;
  session.control().magic = 1;
  expectInert(session.path().c_str());
  session.control().magic = abi::ControlPage::kMagic;
  session.control().state = abi::SessionState::Closed;
  expectInert(session.path().c_str());
  session.control().state = abi::SessionState::Open;
  std::filesystem::resize_file(session.path() / abi::kControlFile, 100);
  expectInert(session.path().c_str());
  std::filesystem::resize_file(session.path() / abi::kControlFile, abi::kHeaderBytes);
  EXPECT_TRUE(session.arenas().empty());
}

TEST(Process, ADirectoryThatRefusesFilesMakesItInert) {
  if (geteuid() != 0)
    GTEST_SKIP() << "needs root, to become a user who may read the session and not write it";
  const SessionDirectory session;
  std::filesystem::permissions(session.path(), std::filesystem::perms(0555));
  std::filesystem::permissions(session.path() / abi::kControlFile, std::filesystem::perms(0644));
  constexpr uid_t kNobody = 65534;
  EXPECT_EQ(session.runChild([] {
    if (setresuid(kNobody, kNobody, kNobody) != 0)
      _exit(2);
    recordOne(1);
    _exit(__msl_enabled->load() == 0 && __msl_process.arena == nullptr ? 0 : 1);
  }),
            0);
}

// Expects that the session's page of unseen processes lists one child. The child could not create its files. So it
// added itself to this page, which its parent had mapped.
void expectOneUnseen(const SessionDirectory &session, int error) {
  ASSERT_EQ(session.unseen().count.load(), 1u);
  const abi::UnseenProcess &process = session.unseen().processes[0];
  EXPECT_EQ(process.ready.load(), 1u);
  EXPECT_NE(process.pid, 0u);
  EXPECT_EQ(process.error, error);
  EXPECT_STREQ(process.name, "unseen child");
}

void forkUnseen() {
  const pid_t pid = fork();
  if (pid == 0) {
    pthread_setname_np(pthread_self(), "unseen child");
    for (uint64_t i = 0; i < 100; ++i)
      recordOne(i);
    _exit(0);
  }
  _exit(SessionDirectory::waitFor(pid));
}

TEST(Process, AChildWithoutRightsCountsItself) {
  if (geteuid() != 0)
    GTEST_SKIP() << "skipped: needs root, to become another user";
  const SessionDirectory session;
  ASSERT_EQ(session.runChild([] {
    recordOne(1);
    constexpr uid_t kNobody = 65534;
    if (setresuid(kNobody, kNobody, kNobody) != 0)
      _exit(2);
    forkUnseen();
  }),
            0);
  expectOneUnseen(session, EACCES);
}

// A process that becomes another user must continue to record. The hook of setuid calls __msl_becomes_user before the
// real call.
TEST(Process, WhatBecomesAnotherUserGoesOnRecording) {
  if (geteuid() != 0)
    GTEST_SKIP() << "skipped: needs root, to become another user";
  const SessionDirectory session({.ring_kib = 16, .ring_max_kib = 64});
  ASSERT_EQ(session.runChild([] {
    recordOne(1);
    constexpr uid_t kNobody = 65534;
    __msl_becomes_user(kNobody);
    if (setresuid(kNobody, kNobody, kNobody) != 0)
      _exit(2);
    std::thread([] { recordOne(2); }).join();
    __msl_note("a definition");
    const pid_t pid = fork();
    if (pid == 0) {
      for (uint64_t i = 3; i <= 2000; ++i)
        recordOne(i); // until a larger ring is needed
      _exit(0);
    }
    _exit(SessionDirectory::waitFor(pid));
  }),
            0);
  EXPECT_EQ(session.unseen().count.load(), 0u);
  EXPECT_EQ(session.arenas().size(), 2u);
  size_t definitions = 0;
  for (const auto &arena : session.arenas()) {
    EXPECT_EQ(arena->header().dropped_no_ring.load(), 0u);
    definitions += arena->definitions().size();
  }
  EXPECT_EQ(definitions, 1u);
  EXPECT_EQ(session.drain().size(), 2000u);
}

TEST(Process, AChildWithoutDescriptorsCountsItself) {
  const SessionDirectory session;
  ASSERT_EQ(session.runChild([] {
    recordOne(1);
    const rlimit none{0, 0};
    setrlimit(RLIMIT_NOFILE, &none);
    forkUnseen();
  }),
            0);
  expectOneUnseen(session, EMFILE);
}

} // namespace

// Runs in the second image of the exec test.
int recordOneAndLeave() {
  recordOne(2);
  return 0;
}

} // namespace msleaks::test
