// Tests how the report shows leaks if the trace contains the pointers in the process's memory.
#include "report_fixture.h"

#include "analysis/trace/pointers.h"

namespace msleaks::analysis {
namespace {

constexpr uint64_t kHeap = 0x10000, kGlobals = 0x1000;

class Reached : public ReportTest {
protected:
  void runWith(const std::vector<StreamEvent> &list, const std::vector<Pointer> &pointers,
               const std::string &why_not = "") {
    start(1, 4711);
    events(list);
    reading(kStart + 5'000, pointers, why_not);
    for (const auto &[time_ns, list] : more_readings)
      reading(time_ns, list, why_not);
    end(1, wait_status, kStart + 1'000'000);
    manifest();
    close();
    found = asJson()["findings"];
  }
  void reading(uint64_t time_ns, const std::vector<Pointer> &pointers, const std::string &why_not) {
    PointerPacker packer;
    for (const Pointer &pointer : pointers)
      packer.add(pointer);
    ASSERT_TRUE(writer->pointers(1, packer.payload()));
    PointerMap map{1, time_ns, 10, 4096, packer.count(), why_not, true, {}};
    map.regions = {{kGlobals, kGlobals + 0x1000, RegionUse::Globals, 0, {"/nowhere/net", {}}, 0x1000},
                   {kHeap, kHeap + 0x10000, RegionUse::Heap, 0, {}, 0}};
    ASSERT_TRUE(writer->pointerMap(map));
  }
  int wait_status = 0;
  std::vector<std::pair<uint64_t, std::vector<Pointer>>> more_readings; // readings after the first one
  json found;
};

} // namespace

TEST_F(Reached, LostBlocksStandFirstAndAreProved) {
  runWith({test::alloc(kStart + 100, kHeap, 5000, kOne), test::alloc(kStart + 200, kHeap + 0x2000, 100, kTwo)},
          {{kGlobals + 16, kHeap}});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0]["bytes"], 100);
  EXPECT_EQ(found[0]["confidence"], "proved");
  EXPECT_EQ(found[0]["evidence"]["reach"], "lost");
  EXPECT_FALSE(found[0]["evidence"].contains("holders"));
  EXPECT_EQ(found[1]["bytes"], 5000);
  EXPECT_EQ(found[1]["confidence"], "likely");
  EXPECT_EQ(found[1]["evidence"]["reach"], "held");
  EXPECT_EQ(found[1]["evidence"]["holders"], json::array({"global at 0x10 of net"}));
}

TEST_F(Reached, ALostBlockThatIsNextToNothingStandsBehindHeldOnesThatFillThePeak) {
  constexpr uint64_t kHeld = uint64_t{400} << 20;
  runWith({test::alloc(kStart + 100, kHeap, kHeld, kOne), test::alloc(kStart + 200, kHeap + kHeld, 24, kTwo)},
          {{kGlobals + 16, kHeap}});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0]["bytes"], kHeld);
  EXPECT_EQ(found[0]["evidence"]["reach"], "held");
  EXPECT_EQ(found[1]["bytes"], 24);
  EXPECT_EQ(found[1]["evidence"]["reach"], "lost");
}

// The lost block has only 24 bytes, but a pointer in it leads to a block of 50 MiB. Together they are larger than the
// held block of 50 MiB. So the lost block comes first.
TEST_F(Reached, ALostBlockCountsWithAllThatItLeadsTo) {
  constexpr uint64_t kMuch = 50 << 20;
  runWith({test::alloc(kStart + 100, kHeap, 24, kOne),
           test::alloc(kStart + 200, 0x10000000, kMuch, {.heap = abi::Heap::Mapping, .site = 2}),
           test::alloc(kStart + 300, 0x20000000, kMuch, {.heap = abi::Heap::Mapping, .site = 1})},
          {{kGlobals, 0x20000000}, {kHeap + 8, 0x10000000}});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0]["bytes"], 24);
  EXPECT_EQ(found[1]["evidence"]["reach"], "indirect");
  EXPECT_EQ(found[2]["evidence"]["reach"], "held");
}

// The larger lost block leads to no other block. So it comes after the small lost block, which leads to a block of
// 3,000 bytes.
TEST_F(Reached, WhatLostBlocksLeadToStandsBehindThem) {
  runWith({test::alloc(kStart + 100, kHeap, 16, kOne), test::alloc(kStart + 200, kHeap + 0x100, 3000, kTwo),
           test::alloc(kStart + 300, kHeap + 0x2000, 2000, {.heap = abi::Heap::Mapping, .site = 2})},
          {{kHeap + 8, kHeap + 0x100}});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0]["bytes"], 16);
  EXPECT_EQ(found[0]["evidence"]["leads_to_bytes"], 3000);
  EXPECT_EQ(found[0]["evidence"]["leads_to_blocks"], 1);
  EXPECT_EQ(found[1]["bytes"], 3000);
  EXPECT_EQ(found[1]["evidence"]["reach"], "indirect");
  EXPECT_EQ(found[2]["bytes"], 2000);
  EXPECT_EQ(found[2]["evidence"]["reach"], "lost");
  EXPECT_FALSE(found[2]["evidence"].contains("leads_to_bytes"));
  EXPECT_NE(asTable(120).find("any more, nor to 1 block (2.93 KiB) that only it leads to (proved)"), std::string::npos)
      << asTable(120);
}

TEST_F(Reached, BlocksOfOnePlaceThatDifferAreFindingsOfTheirOwn) {
  runWith({test::alloc(kStart + 100, kHeap, 64, kOne), test::alloc(kStart + 200, kHeap + 0x100, 64, kOne),
           test::alloc(kStart + 300, kHeap + 0x200, 64, kTwo)},
          {{kGlobals, kHeap}, {kHeap + 8, kHeap + 0x200}});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0]["evidence"]["reach"], "lost");
  for (size_t i = 1; i < 3; ++i)
    EXPECT_EQ(found[i]["evidence"]["reach"], "held");
  EXPECT_NE(found[0]["id"], found[1]["id"]);
  const json &other = found[1]["site"]["line"] == 12 ? found[2] : found[1];
  EXPECT_EQ(other["evidence"]["holders"][0].get<std::string>().find("global at 0x0 of net → "), 0u);
  EXPECT_NE(other["evidence"]["holders"][0].get<std::string>().find("net.cpp:12) +8"), std::string::npos);
}

TEST_F(Reached, WhatCameBehindTheReadingIsUnknown) {
  runWith({test::alloc(kStart + 100, kHeap, 64, kOne), test::alloc(kStart + 6'000, kHeap + 0x100, 64, kTwo)}, {});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0]["evidence"]["reach"], "lost");
  EXPECT_EQ(found[1]["evidence"]["reach"], "unknown");
  EXPECT_EQ(found[1]["evidence"]["why_unknown"], "allocated after the memory of its process was last read");
  EXPECT_EQ(found[1]["confidence"], "likely");
}

TEST_F(Reached, LostBlocksOfAKilledProcessAreLeaks) {
  wait_status = SIGKILL;
  runWith({test::alloc(kStart + 100, kHeap, 5000, kOne), test::alloc(kStart + 200, kHeap + 0x2000, 100, kTwo)},
          {{kGlobals + 16, kHeap}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]["bytes"], 100);
  EXPECT_EQ(found[0]["confidence"], "proved");
  EXPECT_EQ(found[0]["evidence"]["reach"], "lost");
}

// If pointers were read twice, the later reading counts. A block that was freed after both readings is no leak.
TEST_F(Reached, TheLastReadingCounts) {
  const Pointer to_first{kGlobals + 16, kHeap}, to_second{kGlobals + 24, kHeap + 0x2000};
  more_readings = {{kStart + 7'000, {to_second}}};
  runWith({test::alloc(kStart + 100, kHeap, 5000, kOne), test::alloc(kStart + 200, kHeap + 0x2000, 100, kTwo),
           test::alloc(kStart + 300, kHeap + 0x4000, 200, kTwo), test::free(kStart + 8'000, kHeap + 0x4000)},
          {to_first});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0]["evidence"]["reach"], "lost");
  EXPECT_EQ(found[0]["bytes"], 5000);
  EXPECT_EQ(found[1]["evidence"]["reach"], "held");
  EXPECT_EQ(found[1]["bytes"], 100);
}

// Even a single FILE is a finding if it is certain that no pointer leads to it.
TEST_F(Reached, AFileThatIsLostIsAHandleThatWasForgotten) {
  runWith({test::opened(kStart + 90, abi::HandleKind::File, kHeap, kOne), test::alloc(kStart + 100, kHeap, 472, kOne),
           test::opened(kStart + 190, abi::HandleKind::File, kHeap + 0x2000, kTwo),
           test::alloc(kStart + 200, kHeap + 0x2000, 472, kTwo)},
          {{kGlobals + 16, kHeap + 0x2000}});
  std::vector<json> handles;
  for (const json &finding : found)
    if (finding["kind"] == "handles")
      handles.push_back(finding);
  ASSERT_EQ(handles.size(), 1u) << found;
  EXPECT_EQ(handles[0]["site"]["line"], 12);
  EXPECT_EQ(handles[0]["count"], 1);
  EXPECT_EQ(handles[0]["confidence"], "likely");
}

// The second place calls freopen() for a FILE that fopen() at the first place opened.
TEST_F(Reached, AHandleKnowsWhichPlaceAllocatedItsFile) {
  runWith({test::alloc(kStart + 80, kHeap, 472, kOne), test::opened(kStart + 90, abi::HandleKind::File, kHeap, kOne),
           test::closed(kStart + 100, abi::HandleKind::File, kHeap, kTwo),
           test::opened(kStart + 110, abi::HandleKind::File, kHeap, kTwo),
           test::alloc(kStart + 120, kHeap + 0x2000, 472, kTwo),
           test::opened(kStart + 130, abi::HandleKind::File, kHeap + 0x2000, kTwo)},
          {});
  std::vector<Finding> handles = report().findings;
  std::erase_if(handles, [](const Finding &finding) { return finding.kind != "handles"; });
  ASSERT_EQ(handles.size(), 1u);
  EXPECT_EQ(handles[0].count, 2u);
  ASSERT_EQ(handles[0].reopened.size(), 1u);
  EXPECT_EQ(handles[0].reopened[0].allocated_at.line, 12u);
  EXPECT_EQ(handles[0].reopened[0].count, 1u);
}

TEST_F(Reached, TheReasonWhyItIsUnknownIsTold) {
  runWith({test::alloc(kStart + 100, kHeap, 64, kOne)}, {}, "a thread went on");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]["evidence"]["reach"], "unknown");
  EXPECT_EQ(found[0]["evidence"]["why_unknown"], "a thread went on");
  EXPECT_EQ(found[0]["confidence"], "likely");
}

TEST_F(Reached, TheTextNamesTheHolder) {
  runWith({test::alloc(kStart + 100, kHeap, 64, kOne)}, {{kGlobals, kHeap}});
  const std::string text = asTable();
  EXPECT_NE(text.find("1 block of `float` (64 B) is still held by the global at 0x0 of net"), std::string::npos)
      << text;
}

} // namespace msleaks::analysis
