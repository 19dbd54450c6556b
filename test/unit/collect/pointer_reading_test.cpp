// Tests the data that the collector reads from a waiting process: its memory maps, the words that may be pointers, and
// its memory use.
#include "analysis/reach/pointer_reading.h"

#include "../sanitizers.h"

#include "analysis/base/files.h"
#include "analysis/trace/trace_reader.h"

#include "msleaks/abi/session.h"
#include "msleaks/abi/symbols.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char _end; // the end of this program's variables

namespace msleaks::analysis {
namespace {

TEST(Maps, ALineHasItsParts) {
  const auto ranges = parseMaps("55d0c000-55d0e000 rw-p 0000a000 fe:00 247766      /usr/bin/a file\n"
                                "no line\n"
                                "7ffc0000-7ffc2000 r-xp 00000000 00:00 0 \n");
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].begin, 0x55d0c000u);
  EXPECT_EQ(ranges[0].end, 0x55d0e000u);
  EXPECT_TRUE(ranges[0].readable && ranges[0].writable && !ranges[0].executable);
  EXPECT_EQ(ranges[0].file_offset, 0xa000u);
  EXPECT_EQ(ranges[0].path, "/usr/bin/a file");
  EXPECT_TRUE(ranges[1].executable && !ranges[1].writable);
  EXPECT_EQ(ranges[1].path, "");
}

// /proc/self/mem can be opened, but reading it fails. Reading the memory maps of an ending process fails in the same
// way. In both cases, readText() must return an empty text.
TEST(Maps, AFileThatFailsInTheMiddleHoldsNothing) {
  EXPECT_EQ(readText("/proc/self/mem"), "");
  EXPECT_EQ(readText("/proc/self"), "");
  EXPECT_EQ(readText("/proc/self/nothing"), "");
  EXPECT_NE(readText("/proc/self/maps"), "");
}

TEST(PointerScan, FindsWordsThatPointIntoARange) {
  const std::vector<MemoryRegion> targets{{0x1000, 0x2000}, {0x2000, 0x3000}, {0x9000, 0xa000}};
  const std::vector<uint64_t> words{0, 0xfff, 0x1000, 0x2fff, 0x3000, 0x9008, 0xa000, 0x1000 | uint64_t{3} << 60};
  std::vector<Pointer> found;
  PointerScan(targets).scan(0x500, words, [&](const Pointer &pointer) { found.push_back(pointer); });
  EXPECT_EQ(found, (std::vector<Pointer>{{0x510, 0x1000}, {0x518, 0x2fff}, {0x528, 0x9008}, {0x538, words[7]}}));
  PointerScan({}).scan(0, words, [](const Pointer &) { FAIL(); });
}

char *in_a_global;
constexpr size_t kOwnBytes = 64 << 10;

// Replaces the memory in which the runtime stores words of stacks.
abi::OwnMemory *own_list;

// Replaces the variables that the runtime has in each thread.
struct Own {
  uint64_t record = 0;
  abi::CallState call{};
  char *block = nullptr;
};
thread_local Own own;

// These tests read the memory of a child process that waits until it is killed.
class ReadingTest : public testing::Test {
protected:
  void SetUp() override {
    if (test::kAddressSanitizer || test::kThreadSanitizer)
      GTEST_SKIP() << "sanitizers map terabytes";
    in_a_global = static_cast<char *>(std::malloc(100));
    own.block = in_a_global;
    own_list = static_cast<abi::OwnMemory *>(
        mmap(nullptr, kOwnBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    own_list->magic = abi::OwnMemory::kMagic;
    own_list->bytes = kOwnBytes;
    *reinterpret_cast<char **>(own_list + 1) = in_a_global;
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    child_ = fork();
    if (child_ == 0) {
      [[maybe_unused]] const auto told = write(ready[1], "r", 1);
      for (;;)
        pause();
    }
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]), close(ready[1]);
    subject_.process = 1;
    subject_.pid = static_cast<uint32_t>(child_);
    subject_.waiting = {static_cast<uint32_t>(child_),
                        reinterpret_cast<uintptr_t>(__builtin_frame_address(0)),
                        reinterpret_cast<uintptr_t>(__builtin_thread_pointer()),
                        {}};
    subject_.most_bytes = UINT64_MAX;
    folder_ = testing::TempDir() + "reading-" + std::to_string(getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override {
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
    std::free(in_a_global);
    munmap(own_list, kOwnBytes);
    std::filesystem::remove_all(folder_);
  }

  std::shared_ptr<const PointedMemory> readAll(bool whole = true) {
    std::filesystem::remove(folder_ / "trace.mslt");
    {
      auto writer = TraceWriter::create(folder_ / "trace.mslt");
      PointerReading reading(subject_);
      while (!*reading.advance(*writer, 1 << 20))
        continue;
      EXPECT_TRUE(reading.store(*writer, 77, whole));
      EXPECT_TRUE(writer->close());
    }
    std::shared_ptr<const PointedMemory> memory;
    const auto reader = TraceReader::open(folder_ / "trace.mslt");
    EXPECT_TRUE(reader->forEachPointedMemory([&](auto found) { memory = std::move(found); }));
    EXPECT_TRUE(reader->damage().empty());
    return memory;
  }

  pid_t child_ = 0;
  PointerReading::Subject subject_;
  std::filesystem::path folder_;
};

TEST_F(ReadingTest, FindsAGlobalThatPointsToABlock) {
  const auto memory = readAll();
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->map().why_not, "");
  EXPECT_EQ(memory->map().time_ns, 77u);
  uint64_t pointers = 0;
  bool found = false;
  memory->forEachPointer([&](const Pointer &pointer) {
    ++pointers;
    found = found ||
            pointer == Pointer{reinterpret_cast<uintptr_t>(&in_a_global), reinterpret_cast<uintptr_t>(in_a_global)};
  });
  EXPECT_TRUE(found);
  EXPECT_EQ(pointers, memory->map().pointers);
  const auto useOf = [&](const void *address) -> const MemoryRegion * {
    for (const MemoryRegion &region : memory->map().regions)
      if (const auto at = reinterpret_cast<uintptr_t>(address); region.begin <= at && at < region.end)
        return &region;
    return nullptr;
  };
  const MemoryRegion *globals = useOf(static_cast<const void *>(&in_a_global));
  ASSERT_TRUE(globals);
  EXPECT_EQ(globals->use, RegionUse::Globals);
  EXPECT_EQ(globals->image.path, std::filesystem::read_symlink("/proc/self/exe"));
  static thread_local int of_this_thread;
  of_this_thread = 1;
  ASSERT_TRUE(useOf(&of_this_thread));
  EXPECT_EQ(useOf(&of_this_thread)->use, RegionUse::ThreadLocal);
  const auto *const on_the_stack = reinterpret_cast<const void *>(getauxval(AT_RANDOM)); // NOLINT: an address
  ASSERT_TRUE(useOf(on_the_stack));
  EXPECT_EQ(useOf(on_the_stack)->use, RegionUse::Stack);
}

TEST_F(ReadingTest, AProcessThatDoesNotWaitIsHeld) {
  subject_.waiting = {};
  subject_.own = {reinterpret_cast<char *>(&own) - static_cast<char *>(__builtin_thread_pointer()), sizeof own,
                  offsetof(Own, call)};
  const auto memory = readAll();
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->map().why_not, "");
  EXPECT_GT(memory->map().pointers, 0u);
  EXPECT_LT(memory->map().waited_ns, memory->map().time_ns);
}

TEST_F(ReadingTest, WhoIsInTheMiddleOfAnAllocationIsNotTold) {
  kill(child_, SIGKILL);
  waitpid(child_, nullptr, 0);
  own.call.inside = 1u << static_cast<unsigned>(abi::Family::Heap);
  SetUp();
  own.call.inside = 0;
  subject_.waiting = {};
  subject_.own = {reinterpret_cast<char *>(&own) - static_cast<char *>(__builtin_thread_pointer()), sizeof own,
                  offsetof(Own, call)};
  const auto memory = readAll();
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->map().why_not, "1 of its threads were in the middle of an allocation");
}

// The runtime stores the addresses of a thread's last blocks. They must not count as pointers of the program.
TEST_F(ReadingTest, WhatMsleaksKeepsHoldsNothing) {
  const auto at = reinterpret_cast<uintptr_t>(&own.block);
  const auto isFound = [&] {
    bool found = false;
    readAll()->forEachPointer([&](const Pointer &pointer) { found = found || pointer.at == at; });
    return found;
  };
  EXPECT_TRUE(isFound());
  subject_.own = {reinterpret_cast<char *>(&own) - static_cast<char *>(__builtin_thread_pointer()), sizeof own,
                  offsetof(Own, call)};
  EXPECT_FALSE(isFound());
}

// The runtime's own memory contains words of stacks and saved register values. They must not count as pointers of the
// program.
TEST_F(ReadingTest, MemoryOfTheRuntimeHoldsNothing) {
  const auto at = reinterpret_cast<uintptr_t>(own_list + 1);
  const auto isFound = [&] {
    bool found = false;
    readAll()->forEachPointer([&](const Pointer &pointer) { found = found || pointer.at == at; });
    return found;
  };
  EXPECT_TRUE(isFound());
  subject_.own.memory = reinterpret_cast<uintptr_t>(&own_list);
  EXPECT_FALSE(isFound());
}

TEST_F(ReadingTest, MappingsBehindTheVariablesAreNone) {
  kill(child_, SIGKILL);
  waitpid(child_, nullptr, 0);
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t behind = (reinterpret_cast<uintptr_t>(&_end) + page - 1) & ~(page - 1);
  void *const mapping = mmap(reinterpret_cast<void *>(behind), page, PROT_READ | PROT_WRITE, // NOLINT: an address
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  SetUp();
  if (mapping == MAP_FAILED)
    GTEST_SKIP() << "something else lies there";
  const auto memory = readAll();
  munmap(mapping, page);
  RegionUse use = RegionUse::Registers;
  for (const MemoryRegion &region : memory->map().regions)
    if (region.begin <= behind && behind < region.end)
      use = region.use;
  EXPECT_EQ(use, RegionUse::Other);
}

TEST_F(ReadingTest, PagesThatNobodyTouchedStayAbsent) {
  kill(child_, SIGKILL);
  waitpid(child_, nullptr, 0);
  constexpr size_t kBytes = size_t{256} << 20; // the range contains four addresses at which an arena could begin
  void *const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  SetUp();
  readAll();
  const ProcessMemory child(static_cast<uint32_t>(child_));
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  if (child.tellsTouched()) {
    EXPECT_TRUE(child.touched(begin, begin + kBytes).empty());
  }
  munmap(memory, kBytes);
}

TEST_F(ReadingTest, SaysThatTooMuchIsMapped) {
  TearDown();
  constexpr size_t kBytes = size_t{512} << 30;
  void *memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  SetUp();
  if (memory == MAP_FAILED)
    GTEST_SKIP() << "the machine maps no 512 GiB";
  const auto read = readAll();
  munmap(memory, kBytes);
  ASSERT_TRUE(read);
  EXPECT_NE(read->map().why_not.find("it has mapped 5"), std::string::npos) << read->map().why_not;
}

TEST_F(ReadingTest, SaysThatThereIsTooMuch) {
  subject_.most_bytes = 4096;
  const auto memory = readAll();
  ASSERT_TRUE(memory);
  EXPECT_NE(memory->map().why_not.find("--reach-max allows 4096"), std::string::npos) << memory->map().why_not;
  EXPECT_TRUE(memory->map().regions.empty());
}

TEST_F(ReadingTest, SaysThatTheProcessWentOn) {
  const auto memory = readAll(false);
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->map().why_not, "the process did not wait until it had been read");
}

TEST_F(ReadingTest, SaysThatItCannotBeRead) {
  subject_.pid = 0;
  EXPECT_EQ(readAll()->map().why_not, "the process cannot be read from here");
}

} // namespace
} // namespace msleaks::analysis
