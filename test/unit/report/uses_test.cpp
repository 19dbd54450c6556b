// Device memory that is idle before its first use, behind its last one, or all the time.
#include "report_fixture.h"

namespace msleaks::analysis {
namespace {

using abi::Heap;

constexpr uint64_t kSize = 1'000'000;
constexpr Where kKept{.heap = Heap::Device, .site = 1}, kOther{.heap = Heap::Device, .site = 2};

class Uses : public ReportTest {
protected:
  StreamEvent born(uint64_t at, uint64_t address, uint64_t size, const Where &where) {
    return test::alloc(kStart + at, address << 24, size, where);
  }
  StreamEvent dies(uint64_t at, uint64_t address) { return test::free(kStart + at, address << 24, kKept); }
  StreamEvent launch(uint64_t at, uint16_t flags = abi::kListed) { return test::launch(kStart + at, flags, kOther); }
  StreamEvent used(uint64_t at, uint64_t address) { return test::access(kStart + at, address << 24, kOther); }

  void run(const std::vector<StreamEvent> &list) {
    start(1, 4711);
    events(list);
    end(1, 0, kStart + 1000);
    manifest();
    close();
    report = asJson();
  }
  // Block 1 is born before block 2 and dies behind it; both are used by launches at 30 and 40, if at all.
  std::vector<StreamEvent> twoBlocks(uint64_t first_used, uint64_t second_used) {
    return {born(10, 1, kSize, kKept),
            born(20, 2, kSize, kOther),
            launch(30),
            used(31, first_used),
            launch(40),
            used(41, second_used),
            born(50, 3, 2 * kSize, kOther),
            launch(60),
            used(61, 3),
            dies(70, 3),
            dies(80, 2),
            dies(90, 1)};
  }
  json of(const std::string &kind, uint32_t line) const {
    for (const json &finding : report["findings"])
      if (finding["kind"] == kind && finding["site"]["line"] == line)
        return finding;
    return {};
  }
  json report;
};

} // namespace

TEST_F(Uses, WhatIsHeldBehindItsLastUseIsLate) {
  run(twoBlocks(1, 2));
  EXPECT_EQ(report["peak"]["bytes"], 4 * kSize);
  EXPECT_EQ(report["floor"]["bytes"], 2 * kSize) << "blocks 1 and 2 are used, and over, before block 3";
  EXPECT_EQ(report["floor"]["heaps"], json({"device"}));
  const json late = of("late-free", 12);
  ASSERT_FALSE(late.is_null()) << report["findings"];
  EXPECT_EQ(late["confidence"], "likely");
  EXPECT_EQ(late["bytes"], kSize);
  EXPECT_EQ(late["count"], 1);
  EXPECT_EQ(late["saves_bytes"], kSize);
  EXPECT_EQ(late["evidence"]["idle_ns"], 90 - 31);
  EXPECT_FALSE(late["evidence"]["last_use"].get<std::string>().empty());
  EXPECT_TRUE(of("peak", 12).is_null()) << "its uses are seen: no guess is needed";
}

TEST_F(Uses, WhatIsAllocatedBeforeItIsUsedIsEarly) {
  run({born(10, 1, kSize, kKept), born(20, 2, 3 * kSize, kOther), launch(30), used(31, 2), dies(40, 2), launch(50),
       used(51, 1), dies(60, 1)});
  const json early = of("early-allocation", 12);
  ASSERT_FALSE(early.is_null()) << report["findings"];
  EXPECT_EQ(early["saves_bytes"], kSize);
  EXPECT_EQ(early["evidence"]["idle_ns"], 51 - 10);
  EXPECT_EQ(report["floor"]["bytes"], 3 * kSize);
}

TEST_F(Uses, WhatNobodyUsesIsUnused) {
  run(twoBlocks(2, 2));
  const json unused = of("unused", 12);
  ASSERT_FALSE(unused.is_null()) << report["findings"];
  EXPECT_EQ(unused["saves_bytes"], kSize);
  EXPECT_EQ(report["floor"]["bytes"], 2 * kSize);
}

TEST_F(Uses, NothingIsSaidWhereThePeakWouldStay) {
  run({born(10, 1, kSize, kKept), launch(20), used(21, 1), dies(22, 1), born(30, 2, kSize, kKept), launch(31),
       used(32, 2), born(33, 3, kSize / 100, kOther), dies(40, 3), dies(41, 2)});
  EXPECT_TRUE(report["findings"].empty()) << report["findings"];
}

TEST_F(Uses, NothingIsSaidOfMemoryThatMayBeUsedUnseen) {
  std::vector<StreamEvent> list = twoBlocks(2, 2);
  list.insert(list.begin() + 4, launch(32, 0)); // nobody knows what it was given
  run(list);
  EXPECT_TRUE(report["floor"].is_null());
  EXPECT_TRUE(of("unused", 12).is_null()) << report["findings"];
  EXPECT_NE(asTable(120).find("floor   not known"), std::string::npos) << asTable(120);
}

TEST_F(Uses, WhatLeaksIsNotLate) {
  std::vector<StreamEvent> list = twoBlocks(1, 2);
  list.pop_back();
  run(list);
  EXPECT_FALSE(of("leak", 12).is_null());
  EXPECT_TRUE(of("late-free", 12).is_null());
  EXPECT_EQ(report["floor"]["bytes"], 2 * kSize);
}

TEST_F(Uses, ManyCohortsAreAllLookedAt) {
  constexpr uint8_t kDevices = 63;
  std::vector<StreamEvent> list = {launch(1)};
  for (uint8_t device = 1; device <= kDevices; ++device) {
    const Where where{.heap = Heap::Device, .site = 1, .device = device};
    list.push_back(born(2 * device, device, kSize, where));
    list.push_back(test::free(kStart + 2 * device + 1, uint64_t{device} << 24, where));
  }
  run(list);
  EXPECT_EQ(of("unused", 12)["count"], 1) << report["findings"];
}

TEST_F(Uses, HostMemoryHasNoFloorOfItsOwn) {
  run({test::alloc(kStart + 10, 0x1000, kSize, {.site = 1}), test::free(kStart + 20, 0x1000, {.site = 1})});
  EXPECT_TRUE(report["floor"].is_null());
  EXPECT_EQ(asTable(120).find("floor"), std::string::npos) << asTable(120);
}

} // namespace msleaks::analysis
