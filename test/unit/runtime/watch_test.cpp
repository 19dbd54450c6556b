// Tests watched blocks: each change is reported for the right operation, and neither a change nor an unreadable block
// affects the program.
#include "callbacks_fixture.h"

#include "msleaks/api.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <xxhash.h>

namespace msleaks::test {
namespace {

constexpr uint32_t kCopy = Traits(Verb::Copy, Family::Cuda, Heap::Device, 0).packed();

struct Change {
  std::string operation;
  uint64_t offset, size;
  uint32_t site;
  bool operator==(const Change &) const = default;
};
std::ostream &operator<<(std::ostream &to, const Change &change) {
  return to << change.operation << " " << change.offset << "+" << change.size << " at " << change.site;
}

struct Kept {
  std::string name, operation;
  uint64_t digest, file;
  bool operator==(const Kept &) const = default;
};
std::ostream &operator<<(std::ostream &to, const Kept &kept) {
  return to << kept.name << " after " << kept.operation << ": " << kept.digest << " in " << kept.file;
}

struct Seen {
  std::vector<Change> changes;
  std::vector<Kept> contents;
  std::vector<uint64_t> watched; // size of each Watch event; 0 = the end of a watch
  std::vector<std::string> notes;
};

std::string textIn(const std::vector<Definition> &definitions, uint64_t number) {
  for (const Definition &definition : definitions) {
    abi::StringDefinition label{};
    if (definition.kind != abi::DefinitionKind::String)
      continue;
    std::memcpy(&label, definition.body.data(), sizeof label);
    if (label.number == number)
      return definition.body.substr(sizeof label);
  }
  return "";
}

Seen seenIn(const SessionDirectory &session, const std::function<void()> &body) {
  EXPECT_EQ(session.runChild(body), 0);
  Seen seen;
  std::vector<Definition> definitions;
  for (const auto &arena : session.arenas())
    for (const Definition &definition : arena->definitions()) {
      definitions.push_back(definition);
      if (definition.kind == abi::DefinitionKind::Note)
        seen.notes.push_back(definition.body);
    }
  for (const ReadEvent &read : session.drain()) {
    if (read.event.header().kind == abi::EventKind::Watch)
      seen.watched.push_back(read.event.as<abi::WatchEvent>().size);
    if (read.event.header().kind == abi::EventKind::Content) {
      const auto content = read.event.as<abi::ContentEvent>();
      seen.contents.push_back(
          {textIn(definitions, content.name), textIn(definitions, content.operation), content.digest, content.file});
    }
    if (read.event.header().kind != abi::EventKind::Changed)
      continue;
    const auto changed = read.event.as<abi::ChangedEvent>();
    seen.changes.push_back({textIn(definitions, changed.operation), changed.offset, changed.size, changed.header.site});
  }
  return seen;
}

Seen seenOf(const std::function<void()> &body) { return seenIn(SessionDirectory(), body); }

std::vector<Change> withoutSites(std::vector<Change> changes) {
  for (Change &change : changes)
    change.site = 0;
  return changes;
}

// A simulated device. Its memory is an array that the runtime can read only through the driver.
namespace device {

constexpr uint64_t kBlock = 0x10; // not an address of the process
char memory[1024];
int waits = 0;
bool is_capturing = false, is_for_look = false; // is_for_look: a watch made the last read

int32_t wait(const void *) { return is_capturing ? 1 : (++waits, 0); }
int32_t read(const void *, const void *block, uint64_t offset, uint64_t bytes, void *to) {
  if (reinterpret_cast<uint64_t>(block) != kBlock || offset + bytes > sizeof memory)
    return 1;
  auto *const last = static_cast<char *>(to) + bytes - 1;
  is_for_look = runtime::isForLook(to) && runtime::isForLook(last) && !runtime::isForLook(last + 1);
  std::memcpy(to, memory + offset, bytes);
  return 0;
}
int32_t name(const void *kernel, char *text, uint64_t bytes) {
  std::snprintf(text, bytes, "kernel %d", static_cast<int>(reinterpret_cast<uint64_t>(kernel)));
  return 0;
}
constexpr hook::Device kOwn{
    sizeof(hook::Device), static_cast<uint32_t>(Family::Cuda), wait, read, name, nullptr, nullptr, nullptr};

// Runs in a thread of the driver before the driver reports that a stream is done.
void (*callback)() = nullptr;
int32_t waitForCallback(const void *) {
  std::thread(callback).join();
  return 0;
}
constexpr hook::Device kCallsBack{
    sizeof(hook::Device), static_cast<uint32_t>(Family::Cuda), waitForCallback, read, name, nullptr, nullptr, nullptr};

void launch(uint32_t site, uint64_t kernel, const std::function<void()> &work, int64_t status = 0) {
  __msl_on_launch(site, kLaunch, at(kernel), nullptr, 1, 1, 1, 1, 0);
  work();
  __msl_on_failed(site, kLaunch, at(kernel), status);
}

} // namespace device

} // namespace

TEST(Watch, AChangeGoesToTheInnermostRange) {
  const Seen seen = seenOf([] {
    char block[256] = {};
    msl_watch(block, sizeof block, "weights");
    msl_range_push("outer");
    block[10] = 1;
    msl_range_push("inner");
    block[20] = 1;
    block[29] = 1;
    msl_range_pop();
    block[255] = 1;
    msl_range_pop();
    block[0] = 1;
    msl_mark("end");
    msl_range_push("nothing");
    msl_range_pop();
    msl_unwatch(block);
    block[1] = 1;
    msl_mark("later");
  });
  EXPECT_EQ(withoutSites(seen.changes),
            (std::vector<Change>{{"outer", 10, 1, 0}, {"inner", 20, 10, 0}, {"outer", 255, 1, 0}, {"", 0, 1, 0}}));
  EXPECT_EQ(seen.watched, (std::vector<uint64_t>{256, 0}));
}

TEST(Watch, ARangeThatIsNotRecordedEndsNoOuterOne) {
  const SessionDirectory session;
  const Seen seen = seenIn(session, [&session] {
    char block[8] = {};
    msl_watch(block, sizeof block, "weights");
    msl_range_push("outer");
    session.control().enabled = ~abi::enabledBit(abi::EventKind::RangeBegin);
    msl_range_push("inner");
    block[1] = 1;
    msl_range_pop();
    block[2] = 1;
    msl_range_pop();
  });
  EXPECT_EQ(withoutSites(seen.changes), (std::vector<Change>{{"outer", 1, 1, 0}, {"outer", 2, 1, 0}}));
}

TEST(Watch, RangesThatAreTooDeepAreNotConfused) {
  const Seen seen = seenOf([] {
    char block[8] = {};
    msl_watch(block, sizeof block, "weights");
    for (const char *name : {"1", "2", "3", "4", "5", "6"})
      msl_range_push(name);
    block[0] = 1;
    for (int i = 1; i < 7; ++i) {
      msl_range_pop();
      block[i] = 1;
    }
    msl_mark("end");
  });
  // The runtime stores only the four innermost ranges, so ranges 5 and 6 have overwritten ranges 1 and 2. After the end
  // of range 3, the runtime does not know which range is open.
  EXPECT_EQ(withoutSites(seen.changes), (std::vector<Change>{{"6", 0, 1, 0},
                                                             {"5", 1, 1, 0},
                                                             {"4", 2, 1, 0},
                                                             {"3", 3, 1, 0},
                                                             {"", 4, 1, 0},
                                                             {"", 5, 1, 0},
                                                             {"", 6, 1, 0}}));
}

TEST(Watch, ALaunchIsNamedByItsKernelAndSite) {
  const Seen seen = seenOf([] {
    char block[64] = {};
    __msl_hook_driver(&device::kOwn);
    msl_watch(block, sizeof block, "weights");
    msl_range_push("forward");
    device::launch(7, 3, [&] { block[5] = 1; });
    block[6] = 1;
    device::launch(8, 4, [&] { block[63] = 1; });
    device::launch(9, 5, [] {});
    __msl_on_copy(11, kCopy, at(0x2000), at(0x3000), 16, nullptr, 1);
    block[9] = 1;
    __msl_on_failed(11, kCopy, at(0x2000), 0);
    msl_range_pop();
    must(device::waits > 0);
  });
  std::vector<Change> changes = seen.changes;
  ASSERT_EQ(changes.size(), 4u);
  changes[1].site = 0; // the site of the range is not compared
  EXPECT_EQ(changes, (std::vector<Change>{
                         {"kernel 3", 5, 1, 7}, {"forward", 6, 1, 0}, {"kernel 4", 63, 1, 8}, {"copy", 9, 1, 11}}));
}

TEST(Watch, ABlockOfADeviceIsReadByItsDriver) {
  const Seen seen = seenOf([] {
    __msl_hook_driver(&device::kOwn);
    msl_watch(at(device::kBlock), sizeof device::memory, "weights");
    device::memory[3] = 1; // the block was not read yet, so this change is not reported
    device::launch(7, 1, [] { device::memory[1000] = 1; });
    device::is_capturing = true;
    device::launch(8, 2, [] { device::memory[17] = 1; });
    device::is_capturing = false;
    device::launch(9, 3, [] { device::memory[18] = 1; }, 5); // a refused launch; the change is still reported for it
  });
  EXPECT_EQ(seen.changes, (std::vector<Change>{{"kernel 1", 1000, 1, 7}, {"", 17, 1, 9}, {"kernel 3", 18, 1, 9}}));
}

// To read a watched block, the driver may call memcpy. The hook of memcpy must know that this copy is for a watch.
TEST(Watch, ADriversCopyForALookIsKnown) {
  seenOf([] {
    static char own[16];
    __msl_hook_driver(&device::kOwn);
    msl_watch(at(device::kBlock), sizeof device::memory, "weights");
    must(!device::is_for_look);
    device::launch(7, 1, [] {});
    must(device::is_for_look);
    must(!runtime::isForLook(own) && !runtime::isForLook(nullptr));
  });
}

TEST(Watch, ADriversThreadAllocatesAndFreesDuringALook) {
  const SessionDirectory session;
  session.control().watch.kind = abi::WatchKind::Address;
  session.control().watch.address = device::kBlock;
  const Seen seen = seenIn(session, [] {
    __msl_hook_driver(&device::kCallsBack);
    __msl_on_alloc(1, kDevice, at(device::kBlock), sizeof device::memory);
    device::callback = [] {
      __msl_on_alloc(2, kDevice, at(0x2000), 64);
      __msl_on_free(3, kDeviceFree, at(0x2000), 0);
    };
    device::launch(7, 1, [] { device::memory[3] = 1; });
    device::launch(8, 2, [] { device::memory[4] = 1; });
  });
  EXPECT_EQ(withoutSites(seen.changes), (std::vector<Change>{{"kernel 1", 3, 1, 0}, {"kernel 2", 4, 1, 0}}));
  EXPECT_TRUE(seen.notes.empty()) << seen.notes[0];
}

TEST(Watch, ADriversThreadThatNeedsALookDoesNotWaitForOneForever) {
  const SessionDirectory session;
  session.control().flags.block_timeout_ms = 1;
  const Seen seen = seenIn(session, [] {
    __msl_hook_driver(&device::kCallsBack);
    msl_watch(at(device::kBlock), sizeof device::memory, "weights");
    device::callback = [] {
      msl_mark("callback");
      device::launch(9, 3, [] { device::memory[5] = 1; });
    };
    device::launch(7, 1, [] { device::memory[3] = 1; });
  });
  EXPECT_EQ(seen.changes, (std::vector<Change>{{"kernel 1", 3, 1, 7}}));
  ASSERT_EQ(seen.notes.size(), 2u); // the first note says that the program waits for operations
  EXPECT_NE(seen.notes[1].find("left out a look"), std::string::npos) << seen.notes[1];
}

// The runtime cannot read the device's block, but it still compares the block of the host.
TEST(Watch, ADriverThatCannotWaitOrReadIsNotCalled) {
  static constexpr auto kFamily = static_cast<uint32_t>(Family::Cuda);
  static constexpr hook::Device kDrivers[] = {
      {sizeof(hook::Device), kFamily, nullptr, device::read, device::name, nullptr, nullptr, nullptr},
      {sizeof(hook::Device), kFamily, device::wait, nullptr, device::name, nullptr, nullptr, nullptr}};
  for (const hook::Device &driver : kDrivers) {
    const Seen seen = seenOf([&driver] {
      char block[8] = {};
      __msl_hook_driver(&driver);
      msl_watch(at(device::kBlock), sizeof device::memory, "of the device");
      msl_watch(block, sizeof block, "weights");
      device::launch(7, 1, [&] { block[3] = 1; });
    });
    EXPECT_EQ(seen.changes, (std::vector<Change>{{"kernel 1", 3, 1, 7}}));
  }
}

namespace {

// Allocates 64 bytes inside a call of a function of `family`, while the session watches the address of the allocated
// block. Returns the sizes of the Watch events.
std::vector<uint64_t> watchedInside(Family family, Heap heap) {
  static char block[64];
  const uint64_t address = heap == Heap::Device ? device::kBlock : reinterpret_cast<uint64_t>(block);
  const SessionDirectory session;
  session.control().watch.kind = abi::WatchKind::Address;
  session.control().watch.address = address;
  return seenIn(session,
                [&] {
                  __msl_hook_driver(&device::kOwn);
                  const uint32_t traits = Traits(Verb::Launch, family, Heap::Device, 0).packed();
                  hook::Call call{traits, hook::kPass, 1, 0, 0, 0};
                  __msl_hook_enter(&call);
                  __msl_hook_begin(&call);
                  runtime::recordAlloc(heap, abi::kFromHook, 999, address, sizeof block);
                  __msl_hook_end(&call);
                })
      .watched;
}

} // namespace

// A driver often writes to the host memory that it allocates for itself inside a call of the program. The watched
// source line has not allocated this memory. So these writes must not be reported.
TEST(Watch, HostMemoryThatADriverAllocatesForItselfIsNotWatched) {
  for (const Family driver : {Family::Cuda, Family::Hip, Family::Acl, Family::OpenCl})
    for (const Heap heap : {Heap::Host, Heap::Mapping})
      EXPECT_EQ(watchedInside(driver, heap), std::vector<uint64_t>{}) << abi::nameOf(heap) << static_cast<int>(driver);
}

TEST(Watch, MemoryThatAProgramGetsInsideACallIsWatched) {
  EXPECT_EQ(watchedInside(Family::Cuda, Heap::Device), std::vector<uint64_t>{64});
  EXPECT_EQ(watchedInside(Family::User, Heap::Host), std::vector<uint64_t>{64});
  EXPECT_EQ(watchedInside(Family::System, Heap::Mapping), std::vector<uint64_t>{64});
}

namespace {

uint64_t digestWith(std::initializer_list<size_t> ones) {
  char block[64] = {};
  for (const size_t at : ones)
    block[at] = 1;
  return XXH3_64bits(block, sizeof block);
}

void changeTwice() {
  char block[64] = {};
  msl_step(5);
  msl_watch(block, sizeof block, "weights");
  msl_range_push("load");
  block[1] = 1;
  msl_range_pop();
  msl_range_push("nothing");
  msl_range_pop();
  block[2] = 1;
  msl_mark("end");
}

} // namespace

TEST(Watch, EachContentHasItsDigest) {
  EXPECT_EQ(seenOf(changeTwice).contents, (std::vector<Kept>{{"weights", "", digestWith({}), 0},
                                                             {"weights", "load", digestWith({1}), 0},
                                                             {"weights", "", digestWith({1, 2}), 0}}));
}

TEST(Watch, ContentsAreKeptInFiles) {
  const SessionDirectory session;
  const auto folder = session.path() / "content";
  std::filesystem::create_directory(folder);
  std::strcpy(session.control().watch.folder, folder.c_str());
  const Seen seen = seenIn(session, changeTwice);
  ASSERT_EQ(seen.contents.size(), 3u);
  for (uint64_t i = 0; i < 3; ++i)
    EXPECT_EQ(seen.contents[i].file, i + 1);
  std::ifstream file(folder / "2.safetensors", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  ASSERT_GT(bytes.size(), 64u);
  EXPECT_EQ(XXH3_64bits(bytes.data() + bytes.size() - 64, 64), digestWith({1}));
  EXPECT_NE(bytes.find(R"("operator":"load","step":"5")"), std::string::npos) << bytes;
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 3); // no unfinished file is left
}

TEST(Watch, FilesBeyondTheLimitAreCounted) {
  const SessionDirectory session;
  std::strcpy(session.control().watch.folder, session.path().c_str());
  session.control().flags.watch_max = 600; // room for two files
  const Seen seen = seenIn(session, changeTwice);
  ASSERT_EQ(seen.contents.size(), 3u);
  EXPECT_NE(seen.contents[1].file, abi::kRefusedFile);
  EXPECT_EQ(seen.contents[2].file, abi::kRefusedFile);
  EXPECT_EQ(seen.contents[2].digest, digestWith({1, 2}));
  ASSERT_EQ(seen.notes.size(), 2u); // the first note says that the program waits for operations
  EXPECT_NE(seen.notes[0].find("waits for"), std::string::npos) << seen.notes[0];
  EXPECT_NE(seen.notes[1].find("--watch-max"), std::string::npos) << seen.notes[1];
}

// A limit on the size of files makes the write fail, as a full disk does. No unfinished file may remain in the folder.
TEST(Watch, AFileThatIsNotWholeHasNoName) {
  const SessionDirectory session;
  const auto folder = session.path() / "content";
  std::filesystem::create_directory(folder);
  std::strcpy(session.control().watch.folder, folder.c_str());
  const Seen seen = seenIn(session, [] {
    static char block[1 << 20];
    msl_watch(block, 16, "small"); // allocates the memory that the runtime needs, before the limit is set
    const rlimit small{1 << 16, 1 << 16};
    ::setrlimit(RLIMIT_FSIZE, &small);
    msl_watch(block, sizeof block, "large");
  });
  ASSERT_EQ(seen.contents.size(), 2u);
  EXPECT_EQ(seen.contents[1].file, abi::kRefusedFile);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  EXPECT_LT(session.unseen().watch_bytes.load(), 1024u);
}

TEST(Watch, MemoryThatIsGoneIsWatchedNoMore) {
  const Seen seen = seenOf([] {
    void *mapping = ::mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(mapping != MAP_FAILED);
    msl_watch(mapping, 1 << 20, "mapping");
    ::munmap(mapping, 1 << 20);
    msl_mark("gone");
    msl_unwatch(mapping);
  });
  EXPECT_EQ(seen.changes, std::vector<Change>());
  EXPECT_EQ(seen.watched, (std::vector<uint64_t>{1 << 20, 0}));
}

TEST(Watch, ALargeBlockIsReadInParts) {
  constexpr uint64_t kBytes = (1 << 20) + 17;
  const Seen seen = seenOf([] {
    auto *block =
        static_cast<char *>(::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    msl_watch(block, kBytes, "large");
    block[kBytes - 1] = 1;
    msl_mark("last");
    block[300'000] = block[600'000] = 1;
    msl_mark("two");
  });
  EXPECT_EQ(withoutSites(seen.changes), (std::vector<Change>{{"", kBytes - 1, 1, 0}, {"", 300'000, 300'001, 0}}));
}

TEST(Watch, MoreThanItCanHoldIsSaid) {
  const Seen seen = seenOf([] {
    static char blocks[70];
    for (char &block : blocks)
      msl_watch(&block, 1, "one");
    blocks[0] = 1;
    msl_mark("end");
  });
  EXPECT_EQ(seen.watched.size(), 64u);
  EXPECT_EQ(seen.changes.size(), 1u);
  ASSERT_GE(seen.notes.size(), 2u); // the first note says that the program waits for operations
  EXPECT_NE(seen.notes[1].find("not watched"), std::string::npos) << seen.notes[1];
}

TEST(Watch, NothingThatCannotBeWatched) {
  const Seen seen = seenOf([] {
    char block[8] = {};
    msl_watch(nullptr, 8, "null");
    msl_watch(block, 0, "empty");
    msl_unwatch(block);
    msl_unwatch(nullptr);
    block[0] = 1;
    msl_mark("end");
  });
  EXPECT_TRUE(seen.watched.empty());
  EXPECT_TRUE(seen.changes.empty());
}

TEST(Watch, AForksChildWatchesNothing) {
  const Seen seen = seenOf([] {
    char block[8] = {};
    msl_watch(block, sizeof block, "weights");
    const pid_t child = ::fork();
    if (child == 0) {
      block[0] = 1;
      msl_mark("child");
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    must(status == 0);
  });
  EXPECT_TRUE(seen.changes.empty());
}

TEST(Watch, ThreadsDoNotDisturbEachOther) {
  const Seen seen = seenOf([] {
    static char blocks[8];
    std::vector<std::thread> threads;
    for (char &block : blocks)
      threads.emplace_back([&block] {
        msl_watch(&block, 1, "byte");
        for (int i = 0; i < 100; ++i) {
          msl_range_push("range");
          block = static_cast<char>(i + 1);
          msl_range_pop();
        }
        msl_unwatch(&block);
      });
    for (std::thread &thread : threads)
      thread.join();
  });
  EXPECT_EQ(seen.watched.size(), 16u);
  EXPECT_GE(seen.changes.size(), 8u * 50);
}

} // namespace msleaks::test
