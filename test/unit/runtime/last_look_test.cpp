// The collector lists large blocks. Tests that a process reads the page state of a listed block just before it frees
// the block.
#include "../sanitizers.h"
#include "arena.h"
#include "session_fixture.h"

#include "msleaks/abi/sampled_block.h"
#include "msleaks/runtime/clock.h"
#include "msleaks/runtime/record.h"
#include "msleaks/runtime/sandbox.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace msleaks::test {
namespace {

constexpr uint64_t kSize = 1 << 20, kAllocated = 4711;

// Maps memory. The tests use ranges of it as large blocks.
class LastLook : public testing::Test {
protected:
  void SetUp() override {
    if (::access("/proc/self/pagemap", R_OK) != 0)
      GTEST_SKIP() << "this kernel tells no pages";
    page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    void *mapped = ::mmap(nullptr, 2 * kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(mapped, MAP_FAILED);
    ::madvise(mapped, 2 * kSize, MADV_NOHUGEPAGE);
    memory = static_cast<char *>(mapped);
    address = reinterpret_cast<uint64_t>(memory);
  }
  void TearDown() override {
    if (memory != nullptr)
      ::munmap(memory, 2 * kSize);
  }

  // Adds a block to the list of large blocks, as the collector does.
  static void tell(uint64_t block, uint64_t size, bool is_sample = false) {
    runtime::recordAlloc(abi::Heap::Host, 0, 1, block, size); // also attaches the process to its session
    abi::LargeBlocks &told = *__msl_process.large_blocks;
    abi::LargeBlock &entry = is_sample ? told.samples[abi::sampleIndexOf(block)] : told.blocks[3];
    entry.size = size;
    entry.time_ns = kAllocated;
    entry.address = block;
    told.filter[abi::largeBitOf(block) / 64] |= uint64_t{1} << abi::largeBitOf(block) % 64;
  }
  static void tellSample(uint64_t block, uint64_t size) { tell(block, size, true); }
  static void free(uint64_t block) { runtime::recordFree(abi::Heap::Host, 0, 2, block, 0); }

  // Runs `body` in a process, and returns its Pages events. Each of them must come before a Free.
  std::vector<abi::PagesEvent> looksOf(const std::function<void()> &body) const {
    const SessionDirectory session;
    EXPECT_EQ(session.runChild(body), 0);
    std::vector<abi::PagesEvent> looks;
    bool is_freed = false;
    for (const ReadEvent &read : session.drain()) {
      is_freed |= read.event.header().kind == abi::EventKind::Free;
      if (read.event.header().kind != abi::EventKind::Pages)
        continue;
      EXPECT_FALSE(is_freed) << "a look behind the free";
      looks.push_back(read.event.as<abi::PagesEvent>());
    }
    return looks;
  }

  char *memory = nullptr;
  uint64_t address = 0, page = 0;
};

TEST_F(LastLook, SaysWhatIsTouchedJustBeforeTheFree) {
  const auto looks = looksOf([&] {
    tell(address, kSize);
    std::memset(memory + page, 1, 7 * page);
    errno = ENOTTY;
    free(address);
    if (errno != ENOTTY)
      ::_exit(1);
  });
  ASSERT_EQ(looks.size(), 1u);
  EXPECT_EQ(looks[0].header.heap, abi::Heap::Host);
  EXPECT_EQ(looks[0].address, address);
  EXPECT_EQ(looks[0].size, kSize);
  EXPECT_EQ(looks[0].allocated_ns, kAllocated);
  EXPECT_EQ(looks[0].touched, 7 * page);
  EXPECT_EQ(looks[0].at_exit, 1u);
}

TEST_F(LastLook, PagesAtTheEndsAreSharedWithOthers) {
  const uint64_t from = address + 16;
  const auto touchedAfter = [&](const std::function<void()> &touch) {
    const auto looks = looksOf([&] {
      tell(from, kSize);
      touch();
      free(from);
    });
    return looks.size() == 1 ? looks[0].touched : UINT64_MAX;
  };
  EXPECT_EQ(touchedAfter([&] { memory[0] = 1, memory[kSize + page / 2] = 1; }), 0u);
  EXPECT_EQ(touchedAfter([&] { memory[20] = 1; }), page - 16);
  EXPECT_EQ(touchedAfter([&] { memory[20] = 1, memory[kSize + 15] = 1; }), page);
}

TEST_F(LastLook, ABlockIsLookedAtOnce) {
  const auto looks = looksOf([&] {
    tell(address, kSize);
    free(address);
    free(address);
    free(address + page); // this block is not on the list
  });
  EXPECT_EQ(looks.size(), 1u);
}

// A listed block may have been freed already. Its memory may then be unreadable, or belong to another block. Pages that
// cannot be read count as touched.
TEST_F(LastLook, MemoryThatCannotBeReadCountsAsTouched) {
  const auto looks = looksOf([&] {
    tell(address + 16, kSize);
    memory[20] = 1;
    ::mprotect(memory, page, PROT_NONE);
    free(address + 16);
  });
  ASSERT_EQ(looks.size(), 1u);
  EXPECT_EQ(looks[0].touched, page - 16);
}

TEST_F(LastLook, NothingIsSaidWhileNothingIsRecorded) {
  const SessionDirectory session;
  ASSERT_EQ(session.runChild([&] {
    tell(address, kSize);
    session.control().enabled = 0;
    free(address);
  }),
            0);
  EXPECT_EQ(session.drain().size(), 1u) << "the Alloc alone";
}

TEST_F(LastLook, BehindASeccompFilterNobodyLooks) {
  if (kThreadSanitizer)
    GTEST_SKIP() << "skipped: the filters forbid calls of TSan itself";
  const auto looks = looksOf([&] {
    tell(address, kSize);
    __msl_enter_sandbox(false);
    free(address);
  });
  EXPECT_TRUE(looks.empty());
}

// The process reads how much of a sampled block is needed.
TEST_F(LastLook, OfASampledBlockSaysWhatIsNeeded) {
  constexpr uint64_t kBytes = 5000;
  const auto looks = looksOf([&] {
    tellSample(address, kBytes);
    std::memset(memory, 1, 100);
    memory[kBytes] = 1; // behind the block
    free(address);
    free(address);
  });
  ASSERT_EQ(looks.size(), 1u);
  EXPECT_EQ(looks[0].address, address);
  EXPECT_EQ(looks[0].size, kBytes);
  EXPECT_EQ(looks[0].allocated_ns, kAllocated);
  EXPECT_EQ(looks[0].touched, 104u);
  EXPECT_EQ(looks[0].at_exit, abi::kPagesLast | abi::kPagesOfSample);
}

// The program may need zeros that it has written. The block shares its last page with other blocks.
TEST_F(LastLook, OfASampledBlockPagesThatWereClearedAreNeeded) {
  const uint64_t size = 3 * page + page / 2;
  const auto looks = looksOf([&] {
    tellSample(address, size);
    std::memset(memory, 0, page);
    std::memset(memory + 3 * page, 0, page);
    free(address);
  });
  ASSERT_EQ(looks.size(), 1u);
  EXPECT_EQ(looks[0].touched, page);
  unsigned char is_present = 1;
  EXPECT_EQ(::mincore(memory + page, page, &is_present), 0);
  EXPECT_EQ(is_present & 1, 0) << "the look has mapped a page";
}

// A process may spend only a small part of its run time on reading page states. This process has already spent this
// time, so it must not read the pages.
TEST_F(LastLook, LooksEndWhenTheirTimeIsSpent) {
  const auto looks = looksOf([&] {
    tell(address, kSize);
    __msl_process.last_looks_ns = uint64_t{1} << 62;
    free(address);
  });
  EXPECT_TRUE(looks.empty());
}

// Three quarters of the time are spent. Samples may spend only half of it.
TEST_F(LastLook, OfSamplesLeaveTimeForLargeBlocks) {
  const auto looks = looksOf([&] {
    tell(address, kSize);
    tellSample(address + kSize, 5000);
    uint64_t &attach_ns = __msl_process.arena->header->attach_ns;
    const uint64_t attached_ns = std::exchange(attach_ns, 0);
    __msl_process.last_looks_ns = (runtime::monotonicNs() / 50 + 20'000'000) / 4 * 3;
    free(address);
    free(address + kSize);
    attach_ns = attached_ns;
  });
  ASSERT_EQ(looks.size(), 1u);
  EXPECT_EQ(looks[0].address, address);
}

} // namespace
} // namespace msleaks::test
