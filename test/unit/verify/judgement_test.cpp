#include "analysis/second_run/allocation_place.h"
#include "analysis/second_run/verification.h"

#include <gtest/gtest.h>

namespace msleaks::analysis {
namespace {

Finding findingOf(const char *kind, uint64_t bytes, uint64_t idle_ns = 0) {
  Finding finding;
  finding.kind = kind;
  finding.bytes = bytes;
  finding.evidence = {{"idle_ns", idle_ns}};
  return finding;
}

Outcome outcomeOf(const Finding &finding, const GuardedSum &sum) { return judge(finding, sum).outcome; }

TEST(Judgement, UnusedBlocksStayUntouched) {
  const Finding finding = findingOf("unused", 1000);
  EXPECT_EQ(outcomeOf(finding, {}), Outcome::Unknown);
  EXPECT_EQ(outcomeOf(finding, {.blocks = 1, .bytes = 1000, .never_touched_bytes = 1000}), Outcome::Proved);
  // The program touched one of the two blocks. The first run's finding says that both are unused, so it is refuted.
  EXPECT_EQ(outcomeOf(finding, {.blocks = 2, .bytes = 1000, .touched_blocks = 1, .never_touched_bytes = 500}),
            Outcome::Refuted);
  EXPECT_EQ(outcomeOf(finding, {.blocks = 1, .bytes = 1000, .never_touched_bytes = 1000, .unwatched = true}),
            Outcome::Unknown);
  EXPECT_EQ(outcomeOf(finding, {.blocks = 1, .bytes = 1000, .touched_blocks = 1, .unwatched = true}), Outcome::Refuted);
}

TEST(Judgement, BlocksThatWereNotGuardedRefuteNothing) {
  const Finding finding = findingOf("unused", 1000);
  EXPECT_EQ(outcomeOf(finding, {.blocks = 1, .bytes = 900, .never_touched_bytes = 900, .refused = true}),
            Outcome::Unknown);
  EXPECT_EQ(outcomeOf(finding, {.blocks = 1, .bytes = 1000, .never_touched_bytes = 1000, .refused = true}),
            Outcome::Proved);
  const Judgement none = judge(finding, {.refused = true});
  EXPECT_EQ(none.outcome, Outcome::Unknown);
  EXPECT_EQ(none.why, "not all blocks that were allocated there could be guarded");
}

TEST(Judgement, OfAPartThatWasTouchedSomewhereTheRestIsDoubtful) {
  const auto sum = [](uint64_t untouched, uint64_t doubtful) {
    return GuardedSum{.blocks = 1, .bytes = 4000, .untouched_bytes = untouched, .doubtful_bytes = doubtful};
  };
  for (const char *kind : {"overallocated", "capacity"}) {
    const Finding finding = findingOf(kind, 1000);
    EXPECT_EQ(outcomeOf(finding, sum(950, 0)), Outcome::Proved);
    EXPECT_EQ(outcomeOf(finding, sum(900, 100)), Outcome::Unknown);
    EXPECT_EQ(outcomeOf(finding, sum(900, 10)), Outcome::Refuted);
  }
}

TEST(Judgement, AWaitIsAtLeastHalfAsLong) {
  const Finding finding = findingOf("early-allocation", 1000, 80);
  EXPECT_EQ(outcomeOf(finding, {.blocks = 1, .longest_wait_ns = 40}), Outcome::Proved);
  EXPECT_EQ(outcomeOf(finding, {.blocks = 1, .longest_wait_ns = 39}), Outcome::Refuted);
}

TEST(Judgement, WhatCannotBeGuardedIsNotRun) {
  EXPECT_EQ(whyNotVerifiable(findingOf("unused", 1)), "");
  EXPECT_NE(whyNotVerifiable(findingOf("leak", 1)), "");
  Finding device = findingOf("unused", 1);
  device.heap = abi::Heap::Device;
  EXPECT_NE(whyNotVerifiable(device), "");
  EXPECT_EQ(whyNotVerifiable(findingOf("trampled", 1)), "");
  device.kind = "trampled";
  EXPECT_NE(whyNotVerifiable(device), "");
  Finding sampled = findingOf("overallocated", 1);
  sampled.evidence.emplace_back("block_bytes", uint64_t{16384});
  EXPECT_EQ(whyNotVerifiable(sampled), "");
  sampled.evidence.back().second = uint64_t{16383};
  EXPECT_EQ(whyNotVerifiable(sampled), "blocks of less than 16.0 KiB cannot be guarded");
}

TEST(Judgement, SumsOfBlocks) {
  auto untouched = std::make_shared<GuardedBlock>(), touched = std::make_shared<GuardedBlock>();
  *untouched = {.bytes = 100, .part_bytes = 64, .born_ns = 10, .gone_ns = 50, .touched = {false, false}};
  *touched = {.bytes = 100, .part_bytes = 64, .born_ns = 10, .first_touch_ns = 30, .touched = {true, false}};
  const GuardedSum sum = sumOf({untouched, touched}, 1000, 16);
  EXPECT_EQ(sum.blocks, 2u);
  EXPECT_EQ(sum.bytes, 200u);
  EXPECT_EQ(sum.touched_blocks, 1u);
  EXPECT_EQ(sum.never_touched_bytes, 100u);
  EXPECT_EQ(sum.untouched_bytes, 136u);
  EXPECT_EQ(sum.doubtful_bytes, 48u);
  EXPECT_EQ(sum.longest_wait_ns, 40u);
}

SiteText call(const char *file, uint32_t line, const char *library = "/home/me/program") {
  SiteText text;
  text.file = file;
  text.line = line;
  text.library = library;
  return text;
}
const SiteText kNew = call("new_op.cc", 50, "/usr/lib/x86_64-linux-gnu/libstdc++.so.6");

SiteLine lineOf(const SiteText &site, std::vector<SiteText> path = {}) {
  SiteLine line;
  line.site = site;
  if (!path.empty()) {
    PathLine &shown = line.paths.emplace_back();
    for (SiteText &text : path)
      shown.calls.push_back(std::make_shared<const SiteText>(std::move(text)));
  }
  return line;
}

TEST(AllocationPlace, IsTheAllocatorsCaller) {
  const AllocationPlace place(lineOf(call("/src/a.c", 10)));
  EXPECT_TRUE(place.holds(std::vector{call("/other/a.c", 10), call("/src/main.c", 1)}));
  EXPECT_FALSE(place.holds(std::vector{call("/src/a.c", 11)}));
  EXPECT_FALSE(place.holds({}));
}

TEST(AllocationPlace, IsBehindLibrariesOfTheSystem) {
  const AllocationPlace place(lineOf(call("a.cpp", 10)));
  EXPECT_TRUE(place.holds(std::vector{kNew, call("a.cpp", 10)}));
  // Code in b.cpp, which a.cpp calls, allocated this block. So the block belongs to another place.
  EXPECT_FALSE(place.holds(std::vector{call("b.cpp", 3), call("a.cpp", 10)}));
}

TEST(AllocationPlace, IsBehindTheWrapperThatItsPathHas) {
  const AllocationPlace place(lineOf(call("a.c", 10), {call("xmalloc.c", 5), call("a.c", 10), call("main.c", 1)}));
  EXPECT_TRUE(place.holds(std::vector{call("xmalloc.c", 5), call("a.c", 10)}));
  EXPECT_FALSE(place.holds(std::vector{call("xmalloc.c", 5), call("b.c", 10)}));
}

TEST(AllocationPlace, OfCodeWithoutLinesIsItsOffset) {
  SiteText site = call("", 0);
  site.offset = 100;
  const AllocationPlace place(lineOf(site));
  EXPECT_TRUE(place.holds(std::vector{site}));
  SiteText other = site;
  other.offset = 101;
  EXPECT_FALSE(place.holds(std::vector{other}));
}

TEST(AllocationPlace, TheFirstCallOfTheUsersOwn) {
  EXPECT_EQ(ownCallOf(std::vector{kNew, call("a.cpp", 1)}), 1u);
  EXPECT_EQ(ownCallOf(std::vector{kNew}), 0u);
}

} // namespace
} // namespace msleaks::analysis
