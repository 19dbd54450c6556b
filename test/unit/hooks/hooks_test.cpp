// Tests that the preloaded hooks record programs that are built without msleaks, and do not change what these programs
// do.
#include "shell.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <thread>

namespace msleaks::test {
namespace {

const std::string kVictim = MSL_VICTIM;

bool wants(const ReadEvent &read, abi::EventKind kind) { return read.event.header().kind == kind; }

// Returns the Alloc events of this size.
std::vector<abi::AllocEvent> allocsOf(const std::vector<ReadEvent> &events, uint64_t size) {
  std::vector<abi::AllocEvent> found;
  for (const ReadEvent &read : events)
    if (wants(read, abi::EventKind::Alloc))
      if (const auto alloc = read.event.as<abi::AllocEvent>(); alloc.size == size)
        found.push_back(alloc);
  return found;
}

uint64_t freesOf(const std::vector<ReadEvent> &events, uint64_t address) {
  return static_cast<uint64_t>(std::count_if(events.begin(), events.end(), [&](const ReadEvent &read) {
    return wants(read, abi::EventKind::Free) && read.event.as<abi::FreeEvent>().address == address;
  }));
}

// The library is loaded with dlopen(). It is closed while a thread that has recorded events still runs. Injection
// interfaces and interpreters close libraries in this way.
TEST(Hooks, AThreadOutlivesTheClosedLibrary) {
  const SessionDirectory session;
  ASSERT_EQ(session.runChild([] {
    void *library = dlopen(kHooks.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr)
      _exit(2);
    const auto allocate = reinterpret_cast<void *(*)(size_t)>(dlsym(library, "malloc"));
    const auto release = reinterpret_cast<void (*)(void *)>(dlsym(library, "free"));
    std::thread([=] {
      release(allocate(77));
      dlclose(library);
    }).join();
  }),
            0);
  EXPECT_EQ(allocsOf(session.drain(), 77).size(), 1u);
}

TEST(Hooks, WhoeverAllocatesInDlsymIsServed) {
  const SessionDirectory session;
  const Ran ran = runShell(preloaded(kHooks + ":" + MSL_BUSY_DLSYM, kVictim + " quiet", &session));
  EXPECT_EQ(ran.status, 5) << ran.output;
  EXPECT_EQ(ran.output, "");
  EXPECT_EQ(allocsOf(session.drain(), 317).size(), 1u);
}

// The victim (victim.c) allocates in a signal handler on a small stack, in a thread that has no ring yet. The stack
// would overflow if the hooks used much of it.
TEST(Hooks, AHandlerOnASmallStackHasRoomEnough) {
  const SessionDirectory session;
  ASSERT_EQ(runShell(preloaded(kHooks, kVictim + " stack", &session)).status, 6);
  EXPECT_EQ(allocsOf(session.drain(), 331).size(), 1u);
}

// The stack is 512 bytes larger than the kernel requires, and at least 4 KiB. It has no room to unwind a call path. So
// the block has the site of its caller, and no path.
TEST(Hooks, AHandlerOnTheSmallestStackHasRoomEnough) {
  const SessionDirectory session;
  ASSERT_EQ(runShell(preloaded(kHooks, kVictim + " 'smallest stack'", &session)).status, 6);
  const auto events = allocsOf(session.drain(), 331);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_NE(events[0].header.site & abi::kCallerSite, 0u);
}

TEST(Hooks, ACrashHandlerSeesTheProgramThroughThem) {
  const Ran plain = runShell(kVictim + " backtrace 2>&1");
  if (plain.output.find("freeTwice seen: 1") == std::string::npos)
    GTEST_SKIP() << "skipped: free() notices nothing, or nothing is seen without hooks either: " << plain.output;
  const SessionDirectory session;
  EXPECT_EQ(runShell(preloaded(kHooks, kVictim + " backtrace", &session)).output, plain.output);
}

// libc's free() itself never calls a hooked function. So a hooked call inside free() comes from a signal handler, and
// the hooks record the call.
TEST(Hooks, AHandlerThatInterruptsFreeIsRecorded) {
  const SessionDirectory session;
  const Ran ran = runShell(preloaded(kHooks, kVictim + " backtrace", &session));
  if (ran.status != 7)
    GTEST_SKIP() << "skipped: free() notices nothing: " << ran.output;
  EXPECT_EQ(allocsOf(session.drain(), 347).size(), 1u);
  EXPECT_EQ(session.arenas()[0]->header().dropped_no_ring.load(), 0u);
}

TEST(Hooks, WithAndWithoutASessionAProgramDoesTheSame) {
  for (const std::string mode :
       {"all", "fail", "threads", "fork", "exec", "quiet", "stack", "backtrace", "sandbox", "sandbox-by-number"}) {
    const SessionDirectory session({.on_full = abi::OnFull::Drop, .ring_kib = 16, .ring_max_kib = 1024});
    const Ran plain = runShell(kVictim + " " + mode + " 2>&1");
    const Ran idle = runShell(preloaded(kHooks, kVictim + " " + mode));
    const Ran recorded = runShell(preloaded(kHooks, kVictim + " " + mode, &session));
    EXPECT_EQ(plain.status, idle.status) << mode;
    EXPECT_EQ(plain.output, idle.output) << mode;
    EXPECT_EQ(plain.status, recorded.status) << mode;
    EXPECT_EQ(plain.output, recorded.output) << mode;
    EXPECT_FALSE(session.drain().empty()) << mode;
  }
}

TEST(Hooks, RealProgramsDoTheSame) {
  const std::string python =
      "python3 -c 'import json,threading; t=[threading.Thread(target=lambda: json.dumps(list(range(9999)))) for _ in "
      "range(4)]; [x.start() for x in t]; [x.join() for x in t]; print(len(json.dumps({\"a\":[1.5]*1000})))'";
  for (const std::string &command :
       {std::string("ls -l /usr/include"), std::string("sh -c 'ls / | sort | wc -l; exit 9'"), python}) {
    const SessionDirectory session({.on_full = abi::OnFull::Drop});
    const Ran plain = runShell(command + " 2>&1");
    const Ran recorded = runShell(preloaded(kHooks, command, &session));
    EXPECT_EQ(plain.status, recorded.status) << command;
    EXPECT_EQ(plain.output, recorded.output) << command;
    const Account account = sum(session.arenas());
    EXPECT_EQ(account.produced, session.drain().size() + account.dropped) << command;
    for (const auto &arena : session.arenas())
      EXPECT_EQ(arena->header().dropped_no_ring.load(), 0u) << command << ": libc's malloc called a hook";
  }
}

TEST(Hooks, EveryFunctionOfTheHeapIsSeen) {
  const SessionDirectory session;
  ASSERT_EQ(runShell(preloaded(kHooks, kVictim + " all", &session)).status, 3);
  const auto events = session.drain();
  struct Expected {
    uint64_t size;
    uint16_t flags;
  };
  for (const auto &[size, flags] : {Expected{101, 0},
                                    {21, abi::kZeroed},
                                    {203, abi::kRealloc},
                                    {45, abi::kRealloc},
                                    {128, 0},
                                    {131, 0},
                                    {137, 0},
                                    {139, 0},
                                    {149, 0},
                                    {151, 0}}) {
    const auto allocs = allocsOf(events, size);
    ASSERT_EQ(allocs.size(), 1u) << size;
    EXPECT_EQ(allocs[0].header.flags, flags | abi::kFromHook) << size;
    EXPECT_EQ(allocs[0].header.heap, abi::Heap::Host);
    EXPECT_EQ(allocs[0].header.site & (abi::kCallerSite | abi::kPathSite), abi::kPathSite) << size;
    EXPECT_GE(freesOf(events, allocs[0].address), 1u) << size;
  }
  EXPECT_EQ(sum(session.arenas()).dropped, 0u) << "libc's malloc called a hook";
}

// Returns the site of the only block of this size, after all Retarget events. Returns 0 unless exactly one such block
// was recorded, and freed once.
uint32_t siteOf(const std::vector<ReadEvent> &events, uint64_t size) {
  const std::vector<abi::AllocEvent> allocs = allocsOf(events, size);
  if (allocs.size() != 1)
    return 0;
  uint32_t site = allocs[0].header.site;
  for (const ReadEvent &read : events)
    if (wants(read, abi::EventKind::Retarget) && read.event.as<abi::RetargetEvent>().address == allocs[0].address)
      site = read.event.header().site;
  return freesOf(events, allocs[0].address) == 1 ? site : 0;
}

// The plug-in's callbacks and the hooks both see each call. Together they must record the call once, even if a signal
// handler allocates between two callbacks.
TEST(Hooks, AnInstrumentedCallIsRecordedOnce) {
  for (const char *when : {"never", "before", "behind"}) {
    const SessionDirectory session;
    ASSERT_EQ(runShell(preloaded(kHooks, MSL_INSTRUMENTED_VICTIM + std::string(" ") + when, &session)).status, 0);
    const std::vector<ReadEvent> events = session.drain();
    EXPECT_EQ(siteOf(events, 353), 11u) << when;
    EXPECT_EQ(siteOf(events, 2003), 13u) << when;
    EXPECT_EQ(siteOf(events, 1009), std::string_view(when) == "never" ? 0u : 21u) << when;
  }
}

// Each copy of at least 64 KiB is recorded once: by the callback before the copy, or by the hook if no callback runs.
TEST(Hooks, ALargeCopyIsRecordedOnce) {
  const SessionDirectory session;
  ASSERT_EQ(runShell(preloaded(kHooks, MSL_INSTRUMENTED_VICTIM + std::string(" copies"), &session)).status, 0);
  std::vector<std::pair<uint64_t, uint32_t>> copies; // size, and site; the site is 0 if a hook recorded the copy
  for (const ReadEvent &read : session.drain())
    if (wants(read, abi::EventKind::Copy)) {
      const auto copy = read.event.as<abi::CopyEvent>();
      EXPECT_EQ(copy.header.heap, abi::Heap::Host);
      const bool is_of_hook = (copy.header.flags & abi::kFromHook) != 0;
      EXPECT_EQ((copy.header.site & abi::kPathSite) != 0, is_of_hook);
      copies.emplace_back(copy.size, is_of_hook ? 0 : copy.header.site);
    }
  EXPECT_EQ(copies, (std::vector<std::pair<uint64_t, uint32_t>>{{70001, 41}, {70002, 0}, {70003, 42}}));
}

// The callback before the call stores its site, and the hook records the call with this site. So no Retarget event
// follows.
TEST(Hooks, AnInstrumentedCallIsNotRetargeted) {
  const SessionDirectory session;
  ASSERT_EQ(runShell(preloaded(kHooks, MSL_INSTRUMENTED_VICTIM, &session)).status, 0);
  for (const ReadEvent &read : session.drain())
    EXPECT_FALSE(wants(read, abi::EventKind::Retarget));
}

// Returns the sites of the frees of this address.
std::vector<uint32_t> sitesOfFrees(const std::vector<ReadEvent> &events, uint64_t address) {
  std::vector<uint32_t> sites;
  for (const ReadEvent &read : events)
    if (wants(read, abi::EventKind::Free) && read.event.as<abi::FreeEvent>().address == address)
      sites.push_back(read.event.header().site);
  return sites;
}

// A direct call is recorded once, with the site that it passes. If another instrumented allocator makes the direct
// call, the block gets the site at which that allocator was called.
TEST(Hooks, ADirectCallIsRecordedWithItsSite) {
  const SessionDirectory session;
  ASSERT_EQ(runShell(preloaded(kHooks, MSL_INSTRUMENTED_VICTIM + std::string(" direct"), &session)).status, 0);
  const std::vector<ReadEvent> events = session.drain();
  EXPECT_EQ(siteOf(events, 4001), 31u);
  EXPECT_EQ(siteOf(events, 4003), 32u);
  const std::vector<abi::AllocEvent> first = allocsOf(events, 4001), second = allocsOf(events, 4003);
  ASSERT_TRUE(first.size() == 1 && second.size() == 1);
  EXPECT_EQ(sitesOfFrees(events, first[0].address), std::vector<uint32_t>{34});
  EXPECT_EQ(sitesOfFrees(events, second[0].address), std::vector<uint32_t>{35});
  for (const ReadEvent &read : events)
    EXPECT_NE(read.event.header().site, 36u) << "free(NULL) was recorded";
}

TEST(Hooks, MappingsAreSeen) {
  const SessionDirectory session;
  ASSERT_EQ(runShell(preloaded(kHooks, kVictim + " all", &session)).status, 3);
  const auto events = session.drain();
  const auto made = allocsOf(events, 3 * 4096), moved = allocsOf(events, 7 * 4096),
             reserved = allocsOf(events, 5 * 4096);
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(made[0].header.heap, abi::Heap::Mapping);
  EXPECT_EQ(made[0].header.flags, abi::kFromHook);
  ASSERT_EQ(moved.size(), 1u);
  EXPECT_EQ(moved[0].header.flags, abi::kFromHook | abi::kRealloc);
  ASSERT_EQ(reserved.size(), 1u);
  EXPECT_EQ(reserved[0].header.flags, abi::kFromHook | abi::kReserve);
  std::vector<std::pair<uint64_t, uint64_t>> frees;
  for (const ReadEvent &read : events)
    if (const auto free = read.event.as<abi::FreeEvent>();
        wants(read, abi::EventKind::Free) && free.header.heap == abi::Heap::Mapping)
      frees.emplace_back(free.address, free.size);
  EXPECT_NE(std::find(frees.begin(), frees.end(), std::pair{made[0].address, uint64_t{3 * 4096}}), frees.end());
  EXPECT_NE(std::find(frees.begin(), frees.end(), std::pair{moved[0].address, uint64_t{4096}}), frees.end());
  EXPECT_NE(std::find(frees.begin(), frees.end(), std::pair{moved[0].address + 4096, uint64_t{6 * 4096}}), frees.end());
  EXPECT_EQ(std::count_if(frees.begin(), frees.end(), [](const auto &free) { return free.first == 1; }), 0)
      << "refused by the kernel";
}

TEST(Hooks, ProtectionIsSeen) {
  const SessionDirectory session;
  ASSERT_EQ(runShell(preloaded(kHooks, kVictim + " all", &session)).status, 3);
  const auto events = session.drain();
  const auto reserved = allocsOf(events, 5 * 4096);
  ASSERT_EQ(reserved.size(), 1u);
  std::vector<std::pair<uint64_t, uint32_t>> changes;
  for (const ReadEvent &read : events)
    if (const auto change = read.event.as<abi::ProtectEvent>();
        wants(read, abi::EventKind::Protect) && change.address - reserved[0].address < 5 * 4096)
      changes.emplace_back(change.size, change.header.flags);
  EXPECT_EQ(changes, (std::vector<std::pair<uint64_t, uint32_t>>{{2 * 4096, abi::kFromHook},
                                                                 {4096, abi::kFromHook | abi::kReserve}}));
}

TEST(Hooks, WhatFailsIsSeen) {
  const SessionDirectory session;
  ASSERT_EQ(runShell(preloaded(kHooks, kVictim + " fail", &session)).status, 4);
  const auto events = session.drain();
  std::vector<std::pair<uint64_t, uint64_t>> failed;
  uint64_t restored = 0;
  for (const ReadEvent &read : events) {
    if (wants(read, abi::EventKind::AllocFailed))
      failed.emplace_back(read.event.as<abi::AllocFailedEvent>().size, read.event.as<abi::AllocFailedEvent>().status);
    if (wants(read, abi::EventKind::Alloc) && (read.event.header().flags & abi::kRestored))
      restored = read.event.as<abi::AllocEvent>().address;
  }
  const std::vector<std::pair<uint64_t, uint64_t>> expected{
      {SIZE_MAX / 2, ENOMEM}, {SIZE_MAX / 2, ENOMEM}, {UINT64_MAX, ENOMEM}, {10, EINVAL}, {uint64_t{1} << 62, ENOMEM}};
  EXPECT_EQ(failed, expected);
  ASSERT_EQ(allocsOf(events, 211).size(), 1u);
  EXPECT_EQ(restored, allocsOf(events, 211)[0].address);
}

TEST(Hooks, EveryThreadAndEveryProcess) {
  const SessionDirectory threads;
  ASSERT_EQ(runShell(preloaded(kHooks, kVictim + " threads", &threads)).status, 0);
  EXPECT_EQ(allocsOf(threads.drain(), 999).size(), 16u);
  const SessionDirectory fork;
  ASSERT_EQ(runShell(preloaded(kHooks, kVictim + " fork", &fork)).status, 0);
  EXPECT_EQ(fork.arenas().size(), 2u);
  const auto events = fork.drain();
  for (const uint64_t size : {307, 311, 313})
    EXPECT_EQ(allocsOf(events, size).size(), 1u) << size;
}

// The hooks do not record the mappings that an allocator makes for itself.
TEST(Hooks, MappingsInsideAnotherAllocatorAreNotRecorded) {
  const SessionDirectory session;
  ASSERT_EQ(runShell(preloaded(kHooks + ":" + MSL_MAPPING_ALLOCATOR, kVictim + " quiet", &session)).status, 5);
  const auto events = session.drain();
  ASSERT_EQ(allocsOf(events, 317).size(), 1u);
  EXPECT_EQ(freesOf(events, allocsOf(events, 317)[0].address), 1u);
  for (const ReadEvent &read : events)
    EXPECT_NE(read.event.header().heap, abi::Heap::Mapping);
  EXPECT_EQ(sum(session.arenas()).dropped, 0u) << "an allocator's own calls are no lost events";
}

std::string notesOf(const SessionDirectory &session) {
  std::string notes;
  for (const auto &arena : session.arenas())
    for (const Definition &definition : arena->definitions())
      if (definition.kind == abi::DefinitionKind::Note)
        notes += definition.body;
  return notes;
}

// The program contains a stub named malloc. The hooks must not mistake this stub for a malloc that the program defines.
// So they must write no note.
TEST(Hooks, AProgramAtAFixedAddressIsHookedWithoutANote) {
  const SessionDirectory session;
  ASSERT_EQ(runShell(preloaded(kHooks, MSL_FIXED_ADDRESS_VICTIM, &session)).status, 5);
  EXPECT_EQ(allocsOf(session.drain(), 919).size(), 1u);
  EXPECT_EQ(notesOf(session), "");
}

// If another allocator is preloaded before the hooks, the dynamic linker finds that allocator first. A note in the
// session's log must list the functions that are then not hooked.
TEST(Hooks, AnAllocatorInFrontIsNoted) {
  const SessionDirectory session;
  ASSERT_EQ(runShell(preloaded(std::string(MSL_MAPPING_ALLOCATOR) + ":" + kHooks, kVictim + " quiet", &session)).status,
            5);
  ASSERT_EQ(session.arenas().size(), 1u);
  const std::string notes = notesOf(session);
  EXPECT_EQ(notes.rfind("not hooked, defined elsewhere: free (", 0), 0u) << notes;
  EXPECT_NE(notes.find("mapping_allocator"), std::string::npos) << notes;
  EXPECT_EQ(notes.find("mmap ("), std::string::npos) << notes;
}

TEST(Hooks, RefusalsAloneAreRecorded) {
  const SessionDirectory session;
  session.control().enabled = abi::enabledBit(abi::EventKind::AllocFailed);
  ASSERT_EQ(runShell(preloaded(kHooks, kVictim + " fail", &session)).status, 4);
  const auto events = session.drain();
  EXPECT_EQ(events.size(), 5u);
  for (const ReadEvent &read : events)
    EXPECT_TRUE(wants(read, abi::EventKind::AllocFailed));
}

TEST(Hooks, AKindThatIsOffCostsNoEvent) {
  const SessionDirectory session;
  session.control().enabled = abi::enabledBit(abi::EventKind::Free);
  ASSERT_EQ(runShell(preloaded(kHooks, kVictim + " all", &session)).status, 3);
  for (const ReadEvent &read : session.drain())
    EXPECT_TRUE(wants(read, abi::EventKind::Free));
}

} // namespace
} // namespace msleaks::test
