// Tests the looks at memory that a fork's child has inherited, with page tables that the test writes itself.
#include "analysis/reach/fork_copies.h"

#include "analysis/trace/copied_pages.h"

#include "pages_events.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace msleaks::analysis {
namespace {

constexpr uint64_t kPage = 4096, kBegin = uint64_t{1} << 30, kPages = 4096, kFrame = 256 << 10;
constexpr uint64_t kShared = kPagePresent, kOwn = kPagePresent | kPageExclusive;

using msleaks::test::eventsIn;
uint64_t copiedIn(const std::vector<abi::PagesEvent> &events) {
  uint64_t bytes = 0;
  for (const abi::PagesEvent &event : events)
    bytes += event.touched;
  return bytes;
}

// A process with one anonymous range and one of a file.
struct FakeSpace {
  std::vector<uint64_t> pages = std::vector<uint64_t>(kPages, kShared);
  std::vector<MappedRange> maps = {
      {kBegin, kBegin + kPages * kPage, true, true, false, 0, ""},
      {kBegin + 2 * kPages * kPage, kBegin + 3 * kPages * kPage, true, true, false, 0, "/f"}};
  bool has_ended = false;

  PageTable table() {
    return {[this] { return maps; },
            [this](uint64_t begin, uint64_t end) {
              if (has_ended || begin < kBegin || end > kBegin + kPages * kPage)
                return std::vector<uint64_t>();
              const auto at = [&](uint64_t address) {
                return pages.begin() + static_cast<ptrdiff_t>((address - kBegin) / kPage);
              };
              return std::vector<uint64_t>(at(begin), at(end));
            },
            kPage};
  }
};

class ForkCopiesTest : public testing::Test {
protected:
  std::vector<abi::PagesEvent> look() {
    while (!copies.lookOn(now_ns))
      ;
    now_ns = copies.nextNs();
    return eventsIn(copies.events());
  }
  FakeSpace child, parent;
  ForkCopies copies{child.table(), parent.table(), 3};
  uint64_t now_ns = 1;
};

TEST_F(ForkCopiesTest, CountsThePagesThatOnlyTheChildMaps) {
  EXPECT_TRUE(look().empty());
  std::fill_n(child.pages.begin(), 65, kOwn); // all of the first frame, and a page of the second
  const auto events = look();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].address, kBegin);
  EXPECT_EQ(events[0].size, kFrame);
  EXPECT_EQ(events[0].touched, kFrame);
  EXPECT_EQ(events[0].allocated_ns, 1u) << "one more event follows";
  EXPECT_EQ(events[1].touched, kPage);
  EXPECT_EQ(events[1].allocated_ns, 0u);
  EXPECT_EQ(events[0].at_exit & UINT8_MAX, kPagesCopied);
  EXPECT_EQ(events[0].at_exit >> kCopiedParentBit, 3u);
  EXPECT_TRUE(look().empty()) << "nothing has changed";
}

// The child began before the first look.
TEST_F(ForkCopiesTest, CountsPagesThatWereCopiedBeforeTheFirstLook) {
  std::fill_n(child.pages.begin(), 10, kOwn);
  EXPECT_EQ(copiedIn(look()), 10 * kPage);
}

TEST_F(ForkCopiesTest, DoesNotCountMemoryOfTheChildAlone) {
  std::fill_n(child.pages.begin(), 100, kOwn);
  std::fill_n(parent.pages.begin(), 100, 0); // the parent never had them
  std::fill_n(child.pages.begin() + 200, 100, kOwn);
  std::fill_n(parent.pages.begin() + 200, 100, kPagePresent | kPageOfFile);
  child.pages[400] = 0;
  EXPECT_EQ(copiedIn(look()), 0u);
  child.pages[400] = kOwn; // mapped after the first look
  EXPECT_EQ(copiedIn(look()), 0u);
}

TEST_F(ForkCopiesTest, DoesNotCountMemoryThatTheParentHasGivenBack) {
  look();
  std::fill_n(child.pages.begin(), 100, kOwn);
  EXPECT_EQ(copiedIn(look()), 100 * kPage);
  std::fill_n(parent.pages.begin(), 100, 0);
  EXPECT_EQ(copiedIn(look()), 0u);
}

TEST_F(ForkCopiesTest, EndsWithEitherProcess) {
  look();
  parent.has_ended = true;
  EXPECT_TRUE(look().empty());
  EXPECT_EQ(copies.nextNs(), UINT64_MAX);
}

TEST_F(ForkCopiesTest, LooksOnlyOnceAtLittleMemory) {
  std::fill(parent.pages.begin() + 100, parent.pages.end(), 0);
  look();
  EXPECT_EQ(copies.nextNs(), UINT64_MAX);
}

// So a much used address space takes no long time at once.
TEST(ForkLooksTest, SplitsALookIntoParts) {
  FakeSpace space;
  const uint64_t pages = 100'000;
  space.pages.assign(pages, kShared);
  space.maps = {{kBegin, kBegin + pages * kPage, true, true, false, 0, "[heap]"}};
  PageTable table = space.table();
  table.read = [](uint64_t begin, uint64_t end) { return std::vector<uint64_t>((end - begin) / kPage, kShared); };
  ForkCopies copies(table, table, 1);
  int parts = 1;
  while (!copies.lookOn(1))
    ++parts;
  EXPECT_GE(parts, 6);
}

TEST(ForkLooksTest, LookAtTheChildThatIsDueFirst) {
  FakeSpace space;
  std::map<uint32_t, int> opened;
  ForkLooks looks([&](uint32_t pid) {
    ++opened[pid];
    return space.table();
  });
  EXPECT_FALSE(looks.lookOn(1));
  looks.add(2, 102, 1, 101);
  looks.add(3, 103, 1, 101);
  EXPECT_EQ(opened, (std::map<uint32_t, int>{{101, 2}, {102, 1}, {103, 1}}));
  std::vector<uint32_t> seen;
  for (uint64_t ns = 1; seen.size() < 2 && ns < 100; ++ns)
    if (const auto found = looks.lookOn(ns * 1'000'000'000))
      seen.push_back(found->first);
  std::ranges::sort(seen);
  EXPECT_EQ(seen, (std::vector<uint32_t>{2, 3}));
}

// With the kernel's own page tables: the child writes to half of the memory.
TEST(ForkLooksTest, CountsWhatTheKernelCopies) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's own memory is copied, too";
#endif
  if (!ProcessMemory(static_cast<uint32_t>(getpid())).tellsTouched())
    GTEST_SKIP() << "this kernel tells no pages";
  constexpr size_t kBytes = 32 << 20;
  auto *memory = static_cast<char *>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  madvise(memory, kBytes, MADV_NOHUGEPAGE);
  std::fill_n(memory, kBytes, 1);
  int told[2], go_on[2];
  ASSERT_EQ(pipe(told) + pipe(go_on), 0);
  const pid_t child = fork();
  if (child == 0) {
    std::fill_n(memory, kBytes / 2, 2);
    char byte = 0;
    _exit(write(told[1], &byte, 1) == 1 && read(go_on[0], &byte, 1) == 1 ? 0 : 1);
  }
  char byte = 0;
  ASSERT_EQ(read(told[0], &byte, 1), 1);
  ForkCopies copies(pageTableOf(static_cast<uint32_t>(child)), pageTableOf(static_cast<uint32_t>(getpid())), 1);
  while (!copies.lookOn(1))
    ;
  const auto events = eventsIn(copies.events());
  ASSERT_EQ(write(go_on[1], &byte, 1), 1);
  int status = -1;
  waitpid(child, &status, 0);
  munmap(memory, kBytes);
  for (const int fd : {told[0], told[1], go_on[0], go_on[1]})
    close(fd);
  EXPECT_EQ(status, 0);
  EXPECT_GE(copiedIn(events), kBytes / 2);
  EXPECT_LT(copiedIn(events), kBytes / 2 + (8 << 20));
}

} // namespace
} // namespace msleaks::analysis
