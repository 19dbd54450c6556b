// Tests the findings about device memory that is idle before its first use, after its last use, or all the time.
#include "report_fixture.h"

#include <set>

namespace msleaks::analysis {
namespace {

using abi::Heap;

constexpr uint64_t kBlockBytes = 1'000'000;
constexpr Where kKeptOnDevice{.heap = Heap::Device, .site = 1}, kOtherOnDevice{.heap = Heap::Device, .site = 2};

class Uses : public ReportTest {
protected:
  StreamEvent born(uint64_t at, uint64_t address, uint64_t size, const Where &where) {
    return test::alloc(kStart + at, address << 24, size, where);
  }
  StreamEvent dies(uint64_t at, uint64_t address) { return test::free(kStart + at, address << 24, kKeptOnDevice); }
  StreamEvent launch(uint64_t at, uint16_t flags = abi::kListed) {
    return test::launch(kStart + at, flags, kOtherOnDevice);
  }
  StreamEvent used(uint64_t at, uint64_t address) { return test::access(kStart + at, address << 24, kOtherOnDevice); }

  // Returns the use of a block by a launch. The kernel's module describes all uses of its launches.
  StreamEvent usedFor(uint64_t at, uint64_t address, uint16_t flags) {
    const uint16_t all = abi::kListed | flags;
    return test::access(kStart + at, address << 24, {.heap = Heap::Device, .flags = all, .site = 2});
  }

  StreamEvent written(uint64_t at, uint64_t address, uint64_t size) {
    return test::fill(kStart + at, address << 24, kOtherOnDevice, size);
  }

  void run(const std::vector<StreamEvent> &list) { report = reportOf(list); }
  // Block 1 is allocated before block 2 and freed after it. The launch at 30 uses block `first_used`, and the launch at
  // 40 uses block `second_used`.
  std::vector<StreamEvent> twoBlocks(uint64_t first_used, uint64_t second_used) {
    return {born(10, 1, kBlockBytes, kKeptOnDevice),
            born(20, 2, kBlockBytes, kOtherOnDevice),
            launch(30),
            used(31, first_used),
            launch(40),
            used(41, second_used),
            born(50, 3, 2 * kBlockBytes, kOtherOnDevice),
            launch(60),
            used(61, 3),
            dies(70, 3),
            dies(80, 2),
            dies(90, 1)};
  }
  StreamEvent named(uint64_t at, uint64_t label) {
    const abi::EventHeader header{abi::EventKind::Kernel, Heap::Device, 0, 0, 0, kStart + at};
    return {1, 1, abi::AnyEvent::from(abi::KernelEvent{header, 0, label})};
  }
  // Block 1 is allocated long before `use`, its first use. A launch of the kernel "gelu" precedes this use. Earlier,
  // the kernel "relu" had the same handle.
  json earlyUsedBy(const StreamEvent &use) {
    start(1, 4711);
    const std::string labels = record(abi::DefinitionKind::String, raw(abi::StringDefinition{1, 0}) + "relu") +
                               record(abi::DefinitionKind::String, raw(abi::StringDefinition{2, 0}) + "gelu");
    EXPECT_TRUE(writer->definitions(1, std::as_bytes(std::span(labels))));
    events({born(10, 1, kBlockBytes, kKeptOnDevice), born(20, 2, 3 * kBlockBytes, kOtherOnDevice), named(29, 1),
            launch(30), used(31, 2), dies(40, 2), named(45, 2), launch(50), use, dies(60, 1)});
    end(1, 0, kStart + 1000);
    manifest();
    close();
    report = asJson();
    return of("early-allocation", 12);
  }
  json of(const std::string &kind, uint32_t line) const { return findingOf(report, kind, line); }
  json report;
};

} // namespace

TEST_F(Uses, WhatIsHeldBehindItsLastUseIsLate) {
  run(twoBlocks(1, 2));
  EXPECT_EQ(report["peak"]["bytes"], 4 * kBlockBytes);
  EXPECT_EQ(report["floor"]["bytes"], 2 * kBlockBytes) << "blocks 1 and 2 are used, and over, before block 3";
  EXPECT_EQ(report["floor"]["heaps"], json({"device"}));
  const json late = of("late-free", 12);
  ASSERT_FALSE(late.is_null()) << report["findings"];
  EXPECT_EQ(late["confidence"], "likely");
  EXPECT_EQ(late["bytes"], kBlockBytes);
  EXPECT_EQ(late["count"], 1);
  EXPECT_EQ(late["saves_bytes"], kBlockBytes);
  EXPECT_EQ(late["evidence"]["idle_ns"], 90 - 31);
  EXPECT_FALSE(late["evidence"]["last_use"].get<std::string>().empty());
  EXPECT_TRUE(of("peak", 12).is_null()) << "its uses are seen: no guess is needed";
}

TEST_F(Uses, WhatIsAllocatedBeforeItIsUsedIsEarly) {
  run({born(10, 1, kBlockBytes, kKeptOnDevice), born(20, 2, 3 * kBlockBytes, kOtherOnDevice), launch(30), used(31, 2),
       dies(40, 2), launch(50), used(51, 1), dies(60, 1)});
  const json early = of("early-allocation", 12);
  ASSERT_FALSE(early.is_null()) << report["findings"];
  EXPECT_EQ(early["saves_bytes"], kBlockBytes);
  EXPECT_EQ(early["evidence"]["idle_ns"], 51 - 10);
  EXPECT_EQ(report["floor"]["bytes"], 3 * kBlockBytes);
}

TEST_F(Uses, AKernelIsNamedWhereItUsesABlock) {
  const json early = earlyUsedBy(used(51, 1));
  ASSERT_FALSE(early.is_null()) << report["findings"];
  EXPECT_EQ(early["evidence"]["first_use_kernel"], "gelu");
  EXPECT_NE(early["advice"].get<std::string>().find("just before the first use by `gelu` at"), std::string::npos)
      << early["advice"];
}

TEST_F(Uses, AFillIsNoKernelWhateverWasLaunchedBeforeIt) {
  const json early = earlyUsedBy(written(51, 1, kBlockBytes));
  ASSERT_FALSE(early.is_null()) << report["findings"];
  EXPECT_FALSE(early["evidence"].contains("first_use_kernel")) << early;
}

TEST_F(Uses, WhatNobodyUsesIsUnused) {
  run(twoBlocks(2, 2));
  const json unused = of("unused", 12);
  ASSERT_FALSE(unused.is_null()) << report["findings"];
  EXPECT_EQ(unused["saves_bytes"], kBlockBytes);
  EXPECT_EQ(report["floor"]["bytes"], 2 * kBlockBytes);
}

TEST_F(Uses, NothingIsSaidWhereThePeakWouldStay) {
  run({born(10, 1, kBlockBytes, kKeptOnDevice), launch(20), used(21, 1), dies(22, 1),
       born(30, 2, kBlockBytes, kKeptOnDevice), launch(31), used(32, 2), born(33, 3, kBlockBytes / 100, kOtherOnDevice),
       dies(40, 3), dies(41, 2)});
  EXPECT_TRUE(report["findings"].empty()) << report["findings"];
}

TEST_F(Uses, NothingIsSaidOfMemoryThatMayBeUsedUnseen) {
  std::vector<StreamEvent> list = twoBlocks(2, 2);
  list.insert(list.begin() + 4, launch(32, 0)); // a launch with unknown arguments
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
  EXPECT_EQ(report["floor"]["bytes"], 2 * kBlockBytes);
}

TEST_F(Uses, TheLaunchThatIsGivenMostIsNamed) {
  run({born(10, 1, kBlockBytes, kKeptOnDevice), born(20, 2, 2 * kBlockBytes, kKeptOnDevice),
       born(25, 3, kBlockBytes, kKeptOnDevice), launch(30), used(31, 1), used(32, 2), used(33, 1),
       test::copy(kStart + 40, 3 << 24, 1 << 24, kKeptOnDevice), used(41, 3), launch(50), used(51, 3), dies(70, 3),
       dies(80, 2), dies(90, 1)});
  EXPECT_EQ(report["floor"]["largest_launch_bytes"], 3 * kBlockBytes)
      << "block 1 is two arguments; a copy is no launch";
  EXPECT_FALSE(report["floor"]["largest_launch"].get<std::string>().empty());
  EXPECT_NE(asTable(200).find("one launch uses 2.86 MiB at most"), std::string::npos) << asTable(200);
}

// Block 1 is used at 30, and again after `launches` other launches. If `at_peak`, block 2 is allocated and freed
// between the two uses. Otherwise block 2 is allocated after the second use.
class Idle : public Uses {
protected:
  json idleAfter(uint64_t launches, bool at_peak = true) {
    std::vector<StreamEvent> list = {born(10, 1, kBlockBytes, kKeptOnDevice), launch(30), used(30, 1)};
    uint64_t at = 40;
    if (at_peak)
      list.insert(list.end(), {born(40, 2, kBlockBytes, kOtherOnDevice), launch(41), used(41, 2), dies(42, 2)});
    for (at = 50; launches > uint64_t{at_peak}; --launches, ++at)
      list.push_back(launch(at));
    list.insert(list.end(), {launch(500), used(500, 1)});
    if (!at_peak)
      list.insert(list.end(),
                  {born(501, 2, kBlockBytes, kOtherOnDevice), launch(502), used(502, 2), used(502, 1), dies(503, 2)});
    list.push_back(dies(600, 1));
    run(list);
    return of("idle", 12);
  }
};

TEST_F(Idle, IsABlockThatNoneOfManyLaunchesUsesAtThePeak) {
  const json idle = idleAfter(100);
  ASSERT_FALSE(idle.is_null()) << report["findings"];
  EXPECT_EQ(idle["confidence"], "hint");
  EXPECT_EQ(idle["bytes"], kBlockBytes);
  EXPECT_EQ(idle["saves_bytes"], kBlockBytes);
  EXPECT_EQ(idle["evidence"]["idle_launches"], 100);
  EXPECT_EQ(idle["evidence"]["idle_ns"], 500 - 30);
  EXPECT_FALSE(idle["evidence"]["last_use"].get<std::string>().empty());
  EXPECT_FALSE(idle["evidence"]["next_use"].get<std::string>().empty());
}

TEST_F(Idle, IsNoneThatIsUsedSoonAgain) { EXPECT_TRUE(idleAfter(99).is_null()) << report["findings"]; }

TEST_F(Idle, IsNoneWhereThePeakIsAnotherTime) { EXPECT_TRUE(idleAfter(200, false).is_null()) << report["findings"]; }

TEST_F(Uses, WhatFitsIntoABlockThatIsUsedNoMoreIsRedundant) {
  run({born(10, 1, 3 * kBlockBytes, kKeptOnDevice), launch(20), used(20, 1),
       born(30, 2, 2 * kBlockBytes, kOtherOnDevice), launch(40), used(40, 2), dies(50, 2), dies(60, 1)});
  const json redundant = of("redundant", 3);
  ASSERT_FALSE(redundant.is_null()) << report["findings"];
  EXPECT_EQ(redundant["confidence"], "hint");
  EXPECT_EQ(redundant["bytes"], 2 * kBlockBytes);
  EXPECT_EQ(redundant["saves_bytes"], 2 * kBlockBytes);
  EXPECT_EQ(redundant["evidence"]["fits_into_bytes"], 3 * kBlockBytes);
  EXPECT_NE(redundant["evidence"]["fits_into"].get<std::string>().find(":12"), std::string::npos) << redundant;
}

// Block 1 is freed before block 2. If block 2 used the memory of block 1, this memory would stay allocated longer. So
// nothing would be saved.
TEST_F(Uses, WhatIsFreedBeforeItsGuestLivesLongerThen) {
  run({born(10, 1, 4 * kBlockBytes, kKeptOnDevice), launch(20), used(20, 1),
       born(30, 2, 2 * kBlockBytes, kOtherOnDevice), launch(40), used(40, 2), dies(50, 1),
       born(60, 3, 3 * kBlockBytes, kKeptOnDevice), launch(70), used(70, 3), used(70, 2), dies(80, 2), dies(90, 3)});
  EXPECT_TRUE(of("redundant", 3).is_null()) << "6 MB before, 7 MB then: " << report["findings"];
}

TEST_F(Uses, WhatIsUsedAgainIsNobodysRoom) {
  run({born(10, 1, 3 * kBlockBytes, kKeptOnDevice), launch(20), used(20, 1),
       born(30, 2, 2 * kBlockBytes, kOtherOnDevice), launch(40), used(40, 2), launch(45), used(45, 1), dies(50, 2),
       dies(60, 1)});
  EXPECT_TRUE(of("redundant", 3).is_null()) << report["findings"];
}

TEST_F(Uses, WhatIsOverwrittenUnreadIsADeadWrite) {
  run({born(10, 1, 1 << 20, kKeptOnDevice), written(20, 1, 1 << 20), written(30, 1, 1 << 20), launch(40), used(40, 1),
       written(50, 1, 1 << 20), launch(60), used(60, 1), dies(90, 1)});
  const json dead = of("dead-write", 12);
  ASSERT_FALSE(dead.is_null()) << report["findings"];
  EXPECT_EQ(dead["confidence"], "likely");
  EXPECT_EQ(dead["bytes"], 1 << 20);
  EXPECT_EQ(dead["count"], 1);
  EXPECT_EQ(dead["saves_bytes"], 0);
  EXPECT_EQ(dead["evidence"]["written_bytes"], 3 << 20);
}

TEST_F(Uses, AKernelThatReadsNothingOfItKeepsAWriteDead) {
  run({born(10, 1, 1 << 20, kKeptOnDevice), written(20, 1, 1 << 20), launch(30), usedFor(31, 1, abi::kWrite),
       written(40, 1, 1 << 20), launch(50), used(51, 1), dies(90, 1)});
  EXPECT_EQ(of("dead-write", 12)["bytes"], 1 << 20) << report["findings"];
}

TEST_F(Uses, AKernelThatMayReadItDoesNot) {
  run({born(10, 1, 1 << 20, kKeptOnDevice), written(20, 1, 1 << 20), launch(30), usedFor(31, 1, abi::kRead),
       written(40, 1, 1 << 20), launch(50), usedFor(51, 1, abi::kRead | abi::kWrite), written(60, 1, 1 << 20),
       launch(70), used(71, 1), dies(90, 1)});
  EXPECT_TRUE(of("dead-write", 12).is_null()) << report["findings"];
}

TEST_F(Uses, WhatAKernelWritesOverwritesNothing) {
  run({born(10, 1, 1 << 20, kKeptOnDevice), written(20, 1, 1 << 20), launch(30), usedFor(31, 1, abi::kWrite),
       launch(50), used(51, 1), dies(90, 1)});
  EXPECT_TRUE(of("dead-write", 12).is_null()) << "it may write less than it could: " << report["findings"];
}

TEST_F(Uses, WhatAKernelReadsOrWritesIsStillItsLaunchs) {
  EXPECT_EQ(earlyUsedBy(usedFor(51, 1, abi::kRead))["evidence"]["first_use_kernel"], "gelu");
}

TEST_F(Uses, APartThatIsWrittenOverwritesNothing) {
  run({born(10, 1, 1 << 20, kKeptOnDevice), written(20, 1, 1 << 19), written(30, 1, 1 << 19), launch(40), used(40, 1),
       dies(90, 1)});
  EXPECT_TRUE(of("dead-write", 12).is_null()) << report["findings"];
}

TEST_F(Uses, PartsAreOverwrittenByAWholeBlock) {
  run({born(10, 1, 1 << 20, kKeptOnDevice), written(20, 1, 1 << 19), written(30, 1, 1 << 18), written(35, 1, 1 << 20),
       launch(40), used(40, 1), dies(90, 1)});
  EXPECT_EQ(of("dead-write", 12)["bytes"], (1 << 19) + (1 << 18)) << report["findings"];
  EXPECT_EQ(of("dead-write", 12)["count"], 2);
}

// Tests the findings by the rules of the tool msMemScope. kindsOf() returns the kinds of the findings about site 1,
// except leaks.
class MsMemScope : public Uses {
protected:
  std::set<std::string> kindsOf(const std::vector<StreamEvent> &list) {
    run(list);
    ReportQuestion question;
    question.policy = *parsePolicy("msmemscope");
    const auto answer = analyzeRun(ReportTest::run, question);
    EXPECT_TRUE(answer) << answer.error().message;
    std::set<std::string> kinds;
    for (const Finding &finding : answer->findings)
      if (finding.site.line == 12 && finding.kind != "leak")
        kinds.insert(finding.kind);
    return kinds;
  }
  std::vector<StreamEvent> withLaunchesBetweenUses(uint64_t launches) {
    std::vector<StreamEvent> list = {born(1, 1, 8, kKeptOnDevice), launch(2), used(2, 1)};
    list.insert(list.end(), launches, launch(3));
    list.insert(list.end(), {launch(4), used(4, 1), dies(5, 1)});
    return list;
  }
  using Kinds = std::set<std::string>;
};

TEST_F(MsMemScope, EarlyIsWhatLetsAnotherBlockGoBeforeItsFirstUse) {
  EXPECT_EQ(kindsOf({born(10, 2, 8, kOtherOnDevice), launch(15), used(15, 2), born(20, 1, 8, kKeptOnDevice),
                     dies(30, 2), launch(40), used(40, 1), dies(50, 1)}),
            Kinds{"early-allocation"})
      << "however little it is";
}

TEST_F(MsMemScope, LateIsWhatAnotherBlockComesBehindTheLastUseOf) {
  EXPECT_EQ(kindsOf({born(20, 1, 8, kKeptOnDevice), launch(30), used(30, 1), born(40, 2, 8, kOtherOnDevice), launch(45),
                     used(45, 2), dies(50, 1), dies(60, 2)}),
            Kinds{"late-free"});
}

TEST_F(MsMemScope, NothingIsSaidWhereNothingElseHappens) {
  EXPECT_EQ(kindsOf({born(10, 1, 8, kKeptOnDevice), launch(20), used(20, 1), launch(30), used(30, 1), dies(40, 1)}),
            Kinds{});
}

TEST_F(MsMemScope, IdleIsWhatThreeThousandCallsDoNotUse) {
  EXPECT_EQ(kindsOf(withLaunchesBetweenUses(3000)), Kinds{"idle"});
}

TEST_F(MsMemScope, ThreeThousandCallsAreNotMoreThanThreeThousand) {
  EXPECT_EQ(kindsOf(withLaunchesBetweenUses(2999)), Kinds{});
}

TEST_F(Uses, ManyCohortsAreAllLookedAt) {
  constexpr uint8_t kDevices = 63;
  std::vector<StreamEvent> list = {launch(1)};
  for (uint8_t device = 1; device <= kDevices; ++device) {
    const Where where{.heap = Heap::Device, .site = 1, .device = device};
    list.push_back(born(uint64_t{2} * device, device, kBlockBytes, where));
    list.push_back(test::free(kStart + uint64_t{2} * device + 1, uint64_t{device} << 24, where));
  }
  run(list);
  EXPECT_EQ(of("unused", 12)["count"], 1) << report["findings"];
}

TEST_F(Uses, HostMemoryHasNoFloorOfItsOwn) {
  run({test::alloc(kStart + 10, 0x1000, kBlockBytes, {.site = 1}), test::free(kStart + 20, 0x1000, {.site = 1})});
  EXPECT_TRUE(report["floor"].is_null());
  EXPECT_EQ(asTable(120).find("floor"), std::string::npos) << asTable(120);
}

} // namespace msleaks::analysis
