// Tests the finding about memory that was shared after a fork and copied since, and the table of shared memory.
#include "report_fixture.h"

#include "analysis/trace/copied_pages.h"

namespace msleaks::analysis {
namespace {

constexpr uint64_t kSecond = 1'000'000'000, kFirst = uint64_t{1} << 32, kSecondBlock = uint64_t{1} << 33;

class Unshared : public ReportTest {
protected:
  void SetUp() override {
    ReportTest::SetUp();
    start(1, 4711);
    start(2, 4712);
    start(3, 4713);
    list = {test::alloc(kStart + 100, kFirst, 100 * kMiB, kOne),
            test::alloc(kStart + 200, kSecondBlock, 20 * kMiB, kTwo)};
  }
  // A look at a child: `mib` of each block are copied.
  void look(uint32_t process, uint64_t time_ns, uint64_t of_first, uint64_t of_second, uint32_t parent = 1) {
    frame(process, time_ns, kFirst, 100 * kMiB, of_first * kMiB, parent, 1);
    frame(process, time_ns, kSecondBlock, 20 * kMiB, of_second * kMiB, parent, 0);
  }
  void frame(uint32_t process, uint64_t time_ns, uint64_t address, uint64_t size, uint64_t copied, uint32_t parent,
             uint64_t follow) {
    abi::PagesEvent pages{};
    pages.header = {abi::EventKind::Pages, abi::Heap::Host, 0, 0, 0, time_ns};
    pages.continuation = abi::kContinuationTag;
    pages.address = address;
    pages.size = size;
    pages.touched = copied;
    pages.allocated_ns = follow;
    pages.at_exit = kPagesCopied | uint64_t{parent} << kCopiedParentBit;
    list.push_back({process, abi::kCollectorStream, abi::AnyEvent::from(pages)});
  }
  json run(uint64_t resident_mib = 200) {
    std::stable_sort(list.begin(), list.end(), [](const StreamEvent &a, const StreamEvent &b) {
      return a.event.header().time < b.event.header().time;
    });
    events(list);
    const ResidentSample resident[] = {{1, kStart + 1, resident_mib * kMiB, kMiB},
                                       {2, kStart + kSecond, 10 * kMiB, kMiB},
                                       {3, kStart + kSecond, 10 * kMiB, kMiB}};
    EXPECT_TRUE(writer->resident(resident));
    EXPECT_TRUE(writer->sharing(sharing));
    end(2, 0, child_end_ns);
    end(3, 0, kStart + 8 * kSecond);
    end(1, 0, kStart + 9 * kSecond);
    manifest();
    close();
    return asJson();
  }

  std::vector<StreamEvent> list;
  std::vector<SharingSample> sharing;
  uint64_t child_end_ns = kStart + 8 * kSecond;
};

TEST_F(Unshared, IsTheSumOfAllChildrenAtOneTime) {
  look(2, kStart + 2 * kSecond, 20, 1);
  look(3, kStart + 3 * kSecond, 30, 2);
  look(2, kStart + 4 * kSecond, 60, 8);
  look(3, kStart + 5 * kSecond, 40, 2);
  const json finding = findingOf(run(), "unshared");
  ASSERT_FALSE(finding.is_null());
  EXPECT_EQ(finding["bytes"], 110 * kMiB);
  EXPECT_EQ(finding["count"], 2);
  EXPECT_EQ(finding["site"]["line"], 12);
  EXPECT_EQ(finding["confidence"], "likely");
  EXPECT_EQ(finding["saves_bytes"], 0);
  const json &evidence = finding["evidence"];
  EXPECT_EQ(evidence["parent"], "pid 4711 (net)");
  EXPECT_EQ(evidence["parent_resident_bytes"], 200 * kMiB);
  EXPECT_EQ(evidence["processes"], json({"68.0 MiB of pid 4712 (net)", "42.0 MiB of pid 4713 (net)"}));
  EXPECT_EQ(evidence["places"], json({"100.0 MiB of src/net.cpp:12", "10.0 MiB of src/net.cpp:3"}));
  EXPECT_EQ(evidence["place_bytes"], 100 * kMiB);
  EXPECT_EQ(evidence["copied_bytes_per_s"], 110 * kMiB / 4);
  const std::string text = asTable();
  EXPECT_NE(
      text.find("unshared: 2 processes copied about 110.0 MiB that fork had shared, 27.5 MiB\n    a second (likely)"),
      std::string::npos)
      << text;
}

// The workers of the next epoch replace those of the last.
TEST_F(Unshared, OfAnEndedChildDoesNotCountWithLaterOnes) {
  child_end_ns = kStart + 3 * kSecond;
  look(2, kStart + 2 * kSecond, 70, 0);
  look(3, kStart + 4 * kSecond, 80, 0);
  const json finding = findingOf(run(), "unshared");
  ASSERT_FALSE(finding.is_null());
  EXPECT_EQ(finding["bytes"], 80 * kMiB);
  EXPECT_EQ(finding["count"], 1);
}

TEST_F(Unshared, IsTheMostEvenIfTheParentFreesItLater) {
  look(2, kStart + 2 * kSecond, 70, 0);
  look(2, kStart + 4 * kSecond, 10, 0);
  EXPECT_EQ(findingOf(run(), "unshared")["bytes"], 70 * kMiB);
}

TEST_F(Unshared, OfLittleMemoryIsNone) {
  look(2, kStart + 2 * kSecond, 31, 1);
  look(3, kStart + 2 * kSecond, 31, 0);
  EXPECT_TRUE(findingOf(run(), "unshared").is_null());
}

TEST_F(Unshared, OfASmallPartOfTheParentIsNone) {
  look(2, kStart + 2 * kSecond, 80, 0);
  EXPECT_TRUE(findingOf(run(900), "unshared").is_null());
}

// The blocks that the parent allocates after the fork are not the memory that was shared.
TEST_F(Unshared, NamesNoBlockThatIsYounger) {
  list[0] = test::alloc(kStart + 3 * kSecond, kFirst, 100 * kMiB, kOne);
  look(2, kStart + 2 * kSecond, 60, 15);
  const json finding = findingOf(run(), "unshared");
  ASSERT_FALSE(finding.is_null());
  EXPECT_EQ(finding["site"]["line"], 3);
  EXPECT_EQ(finding["bytes"], 75 * kMiB);
  EXPECT_EQ(finding["evidence"]["place_bytes"], 15 * kMiB);
}

TEST_F(Unshared, IsNoneIfEventsAreDamaged) {
  look(2, kStart + 2 * kSecond, 80, 0, 77); // there is no such parent
  frame(2, kStart + 3 * kSecond, UINT64_MAX - 10, 100 * kMiB, kMiB, 1, 0);
  frame(2, kStart + 3 * kSecond, kFirst, kMiB, 100 * kMiB, 1, 0);
  EXPECT_TRUE(findingOf(run(), "unshared").is_null());
}

TEST_F(Unshared, ProcessesHaveTheSampleWithTheMostPss) {
  sharing = {{1, kStart + kSecond, 100 * kMiB, 50 * kMiB, 120 * kMiB},
             {1, kStart + 2 * kSecond, 150 * kMiB, 20 * kMiB, 140 * kMiB},
             {2, kStart + 2 * kSecond, 30 * kMiB, 10 * kMiB, 90 * kMiB},
             {1, kStart + 3 * kSecond, 80 * kMiB, 40 * kMiB, 100 * kMiB}};
  look(2, kStart + 2 * kSecond, 7, 0);
  const json report = run();
  const json wanted = json::parse(R"([{"pid":4711,"pss_bytes":157286400,"private_bytes":20971520,
    "shared_bytes":146800640},{"pid":4712,"pss_bytes":31457280,"private_bytes":10485760,"shared_bytes":94371840},
    {"pid":4713,"pss_bytes":null,"private_bytes":null,"shared_bytes":null}])");
  expectKeys(report["processes"], wanted);
  for (const json &section : report["sections"])
    if (section["name"] == "sharing") {
      ASSERT_EQ(section["rows"].size(), 2u);
      EXPECT_EQ(section["rows"][0], json({"pid 4711 (net)", 150 * kMiB, 20 * kMiB, 140 * kMiB, nullptr}));
      EXPECT_EQ(section["rows"][1], json({"pid 4712 (net)", 30 * kMiB, 10 * kMiB, 90 * kMiB, 7 * kMiB}));
      return;
    }
  FAIL() << "there is no such table";
}

} // namespace
} // namespace msleaks::analysis
