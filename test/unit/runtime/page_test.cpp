// Tests the layout of the arena for kernels with pages of 4, 16 and 64 KiB. Large pages are multiples of small ones. So
// their layout can be tested on a kernel with small pages.
#include "session.h"
#include "session_fixture.h"

#include "msleaks/runtime/mappings.h"
#include "msleaks/runtime/page.h"
#include "msleaks/runtime/record.h"

#include <set>

namespace msleaks::test {
namespace {

class Pages : public ::testing::TestWithParam<uint64_t> {
protected:
  void SetUp() override {
    if (GetParam() < static_cast<uint64_t>(sysconf(_SC_PAGESIZE)))
      GTEST_SKIP() << "skipped: this kernel has larger pages";
  }
};

void recordIn(uint64_t page_bytes, const std::function<void()> &body) {
  runtime::session.page_bytes = page_bytes;
  body();
}

// Expects that every ring can be mapped by its offset, and that no two rings share a page.
void expectOnPages(const ArenaFile &arena, uint64_t page_bytes) {
  EXPECT_EQ(arena.header().page_bytes, page_bytes);
  uint64_t end = arena.header().path_blocks_offset + abi::kMaxPathBlocks * sizeof(abi::PathBlock);
  for (uint32_t i = 0; i < arena.ringCount(); ++i) {
    EXPECT_EQ(arena.entry(i).offset % page_bytes, 0u) << i;
    EXPECT_GE(arena.entry(i).offset, end) << i;
    EXPECT_LT(arena.entry(i).offset, end + page_bytes) << i;
    end = arena.entry(i).offset + arena.entry(i).bytes;
  }
}

TEST_P(Pages, RingsBeginOnPages) {
  const SessionDirectory session({.on_full = abi::OnFull::Drop, .ring_kib = 16, .ring_max_kib = 64});
  ASSERT_EQ(session.runChild([] {
    recordIn(GetParam(), [] {
      for (int thread = 0; thread < 3; ++thread)
        std::thread([] {
          for (uint64_t i = 0; i < 3000; ++i) // needs more than 16 KiB, so a ring of 64 KiB follows
            runtime::recordAlloc(abi::Heap::Host, 0, 1, i + 1, 0);
        }).join();
    });
  }),
            0);
  const auto arenas = session.arenas();
  ASSERT_EQ(arenas.size(), 1u);
  EXPECT_GE(arenas[0]->ringCount(), 4u);
  expectOnPages(*arenas[0], GetParam());
  const Account total = sum(arenas);
  EXPECT_EQ(total.produced, 9000u);
  EXPECT_EQ(session.drain().size() + total.dropped, total.produced);
}

// The arena's table of rings grows by pages. The storage of a page must be allocated in the arena's file before an
// entry on this page is used. Otherwise an access to the entry would raise SIGBUS on a full disk.
TEST_P(Pages, TheDirectoryOfRingsHasItsPages) {
  const SessionDirectory session({.on_full = abi::OnFull::Drop, .ring_kib = 16, .ring_max_kib = 16});
  constexpr int kThreads = 400; // with 24 bytes each, their entries fill more than two pages of 4 KiB
  ASSERT_EQ(session.runChild([] {
    recordIn(GetParam(), [] {
      std::vector<std::thread> threads;
      std::atomic<int> recorded{0};
      for (int i = 0; i < kThreads; ++i)
        threads.emplace_back([&recorded] {
          runtime::recordAlloc(abi::Heap::Host, 0, 1, 1, 0);
          for (++recorded; recorded < kThreads;)
            std::this_thread::yield();
        });
      for (std::thread &thread : threads)
        thread.join();
    });
  }),
            0);
  const auto arenas = session.arenas();
  ASSERT_EQ(arenas.size(), 1u);
  EXPECT_EQ(arenas[0]->ringCount(), uint32_t{kThreads});
  expectOnPages(*arenas[0], GetParam());
  EXPECT_EQ(session.drain().size(), size_t{kThreads});
  EXPECT_EQ(sum(arenas).dropped, 0u);
}

INSTANTIATE_TEST_SUITE_P(OfKernels, Pages, ::testing::Values(4096, 16384, 65536));

TEST(Page, TheKernelsOwn) {
  EXPECT_EQ(runtime::pageBytes(), static_cast<uint64_t>(sysconf(_SC_PAGESIZE)));
  EXPECT_LE(runtime::pageBytes(), abi::kMaxPageBytes);
}

// The kernel clears these pages in a fork's child, so they must contain nothing but the state.
TEST(Page, TheStateOfAProcessHasPagesOfItsOwn) {
  EXPECT_EQ(reinterpret_cast<uintptr_t>(&__msl_process) % runtime::pageBytes(), 0u);
  EXPECT_EQ(sizeof __msl_process % runtime::pageBytes(), 0u);
}

// If the kernel refuses a call of munmap(), the call unmaps no memory.
TEST(Page, MappingsAreGivenBackByWholePages) {
  for (const uint64_t page : {4096, 16384, 65536}) {
    EXPECT_TRUE(runtime::munmapTakes(3 * page, 1, page));
    EXPECT_FALSE(runtime::munmapTakes(3 * page + page / 2, page, page));
    EXPECT_FALSE(runtime::munmapTakes(3 * page, 0, page));
    EXPECT_TRUE(runtime::mremapTakes(3 * page, page, 2 * page, MREMAP_MAYMOVE, page));
    EXPECT_FALSE(runtime::mremapTakes(3 * page + page / 2, page, 2 * page, MREMAP_MAYMOVE, page));
  }
}

} // namespace
} // namespace msleaks::test
