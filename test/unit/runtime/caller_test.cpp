// Tests the sites of callers that are not instrumented: each return address gets one number, and its image is defined
// once.
#include "../emulated.h"
#include "session_fixture.h"

#include "msleaks/runtime/caller.h"
#include "msleaks/runtime/record.h"

#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <sys/resource.h>

namespace msleaks::test {
namespace {

uint64_t codeAddressOf(const void *function) { return reinterpret_cast<uint64_t>(function); }

TEST(Callers, AnAddressHasOneNumberAndItsImage) {
  const SessionDirectory session;
  const uint64_t in_libc = codeAddressOf(dlsym(RTLD_DEFAULT, "gnu_get_libc_version")),
                 in_program = codeAddressOf(reinterpret_cast<void *>(&codeAddressOf));
  ASSERT_EQ(session.runChild([=] {
    const uint32_t libc = runtime::callerSite(in_libc), program = runtime::callerSite(in_program);
    if (libc == program || runtime::callerSite(in_libc) != libc || runtime::callerSite(in_libc + 1) == libc ||
        (libc & abi::kCallerSite) == 0)
      _exit(1);
    runtime::recordAlloc(abi::Heap::Host, 0, libc, 1, 0);
    runtime::recordAlloc(abi::Heap::Host, 0, program, 2, 0);
  }),
            0);
  const auto events = session.drain();
  const auto arenas = session.arenas();
  std::map<uint32_t, std::string> paths;
  for (const Definition &definition : arenas[0]->definitions()) {
    ASSERT_EQ(definition.kind, abi::DefinitionKind::Image);
    abi::ImageDefinition image;
    std::memcpy(&image, definition.body.data(), sizeof image);
    EXPECT_TRUE(paths.emplace(image.image, definition.body.substr(sizeof image)).second) << "defined once";
    EXPECT_GT(image.build_id_bytes, 0u);
  }
  ASSERT_EQ(paths.size(), 2u);
  ASSERT_EQ(events.size(), 2u);
  const auto placeOf = [&](const ReadEvent &read) -> abi::Caller & {
    return arenas[0]->caller(read.event.header().site & ~abi::kCallerSite);
  };
  EXPECT_EQ(placeOf(events[0]).address.load(), in_libc);
  EXPECT_NE(paths[placeOf(events[0]).image].find("libc"), std::string::npos);
  EXPECT_EQ(placeOf(events[1]).address.load(), in_program);
  EXPECT_NE(paths[placeOf(events[1]).image].find("runtime_test"), std::string::npos);
}

// The path in the trace must be absolute, since a reader of the trace may run in another folder.
TEST(Callers, ALibraryOfARelativePathHasItsWholePath) {
  const SessionDirectory session;
  const std::filesystem::path library = MSL_LOADABLE;
  ASSERT_EQ(session.runChild([&] {
    std::filesystem::current_path(library.parent_path());
    void *loaded = dlopen(("./" + library.filename().string()).c_str(), RTLD_NOW);
    if (loaded == nullptr)
      _exit(1);
    runtime::recordAlloc(abi::Heap::Host, 0, runtime::callerSite(codeAddressOf(dlsym(loaded, "msl_test_loadable"))), 1,
                         0);
  }),
            0);
  session.drain();
  const auto arenas = session.arenas();
  const auto definitions = arenas[0]->definitions();
  ASSERT_EQ(definitions.size(), 1u);
  EXPECT_EQ(definitions[0].body.substr(sizeof(abi::ImageDefinition)), library.string());
}

// Another library may be loaded at the address of an unloaded one. Callers in the new library get new entries, and the
// old entries still refer to the unloaded library. If the unloaded library is loaded again, its callers get their old
// entries. So a library that is loaded a thousand times does not fill the table.
TEST(Callers, AnUnloadedImageKeepsItsCallersToItself) {
  const SessionDirectory session;
  constexpr char kLibrary[] = MSL_LOADABLE, kFunction[] = "msl_test_loadable";
  const int status = session.runChild([&] {
    runtime::callerSite(codeAddressOf(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"))); // creates the table of callers
    void *library = dlopen(kLibrary, RTLD_NOW);
    if (library == nullptr || dlopen(kLibrary, RTLD_NOW) == nullptr)
      _exit(2);
    const uint64_t address = codeAddressOf(dlsym(library, kFunction));
    const uint32_t loaded = runtime::callerSite(address);
    runtime::recordAlloc(abi::Heap::Host, 0, loaded, 1, 0);
    __msl_unloading();
    dlclose(library);
    __msl_unloaded();
    if (runtime::callerSite(address) != loaded)
      _exit(1); // the library is still open through another handle, so its entry must not change
    __msl_unloading();
    dlclose(library);
    __msl_unloaded();
    runtime::recordAlloc(abi::Heap::Host, 0, runtime::callerSite(address), 2, 0);
    library = dlopen(kLibrary, RTLD_NOW);
    if (codeAddressOf(dlsym(library, kFunction)) != address)
      _exit(3);
    __msl_unloading();
    __msl_unloaded();
    runtime::recordAlloc(abi::Heap::Host, 0, runtime::callerSite(address), 3, 0);
  });
  if (status == 3 && isEmulated())
    GTEST_SKIP() << "the library came back to another address";
  ASSERT_EQ(status, 0) << "1, 2: the library; 3: it came back to another address";
  const auto events = session.drain();
  ASSERT_EQ(events.size(), 3u);
  const auto arenas = session.arenas();
  const auto placeOf = [&](size_t i) -> abi::Caller & {
    return arenas[0]->caller(events[i].event.header().site & ~abi::kCallerSite);
  };
  EXPECT_NE(events[0].event.header().site, events[1].event.header().site);
  EXPECT_NE(placeOf(0).image, 0u);
  EXPECT_EQ(placeOf(1).image, 0u);
  EXPECT_EQ(placeOf(0).address & ~abi::kRetiredCaller, placeOf(1).address & ~abi::kRetiredCaller);
}

TEST(Callers, AFullTableGivesNoSite) {
  const SessionDirectory session;
  EXPECT_EQ(session.runChild([] {
    uint32_t refused = 0, wrong = 0;
    for (uint64_t i = 1; i <= uint64_t{2} * abi::kMaxCallers; ++i)
      refused += runtime::callerSite(i * 16) == 0;
    for (uint64_t i = 1; i <= 1000; ++i)
      wrong += runtime::callerSite(i * 16) != runtime::callerSite(i * 16);
    _exit(refused >= abi::kMaxCallers && refused < 2 * abi::kMaxCallers && wrong == 0 ? 0 : 1);
  }),
            0);
}

// If the table of callers cannot be created, the runtime tries again only after many events.
TEST(Callers, ATableThatIsRefusedIsTriedAgainLater) {
  const SessionDirectory session;
  EXPECT_EQ(session.runChild([] {
    runtime::recordAlloc(abi::Heap::Host, 0, 0, 1, 0);
    rlimit usual{};
    getrlimit(RLIMIT_NOFILE, &usual);
    const rlimit none{0, usual.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    const bool refused = runtime::callerSite(0x1000) == 0;
    setrlimit(RLIMIT_NOFILE, &usual);
    uint32_t waited = 0;
    while (waited < 10'000 && runtime::callerSite(0x1000) == 0)
      ++waited;
    _exit(refused && waited == 1024 ? 0 : 1);
  }),
            0);
}

TEST(Callers, ThreadsAgree) {
  const SessionDirectory session;
  EXPECT_EQ(session.runChild([] {
    constexpr uint32_t kAddresses = 2000;
    static uint32_t sites[4][kAddresses];
    std::vector<std::thread> threads;
    for (auto &mine : sites)
      threads.emplace_back([&mine] {
        for (uint32_t i = 0; i < kAddresses; ++i)
          mine[i] = runtime::callerSite(0x1000 + i * 40);
      });
    for (std::thread &thread : threads)
      thread.join();
    for (const auto &mine : sites)
      if (std::memcmp(mine, sites[0], sizeof mine) != 0)
        _exit(1);
  }),
            0);
}

TEST(Callers, AForkedChildNumbersAnew) {
  const SessionDirectory session;
  ASSERT_EQ(session.runChild([] {
    runtime::recordAlloc(abi::Heap::Host, 0, runtime::callerSite(0x1000), 1, 0);
    const pid_t pid = fork();
    if (pid != 0)
      _exit(SessionDirectory::waitFor(pid));
    runtime::recordAlloc(abi::Heap::Host, 0, runtime::callerSite(0x1000), 1, 0);
  }),
            0);
  const auto arenas = session.arenas();
  ASSERT_EQ(arenas.size(), 2u);
  for (const auto &arena : arenas) {
    std::vector<ReadEvent> events;
    arena->drain(0, events);
    EXPECT_EQ(arena->caller(events.at(0).event.header().site & ~abi::kCallerSite).address.load(), 0x1000u);
  }
}

} // namespace
} // namespace msleaks::test
