// Tests the findings about places that allocate so often that the allocations take noticeable time.
#include "report_fixture.h"

namespace msleaks::analysis {
namespace {

constexpr Where kOften{.site = 1};

class Churn : public ReportTest {
protected:
  // Adds pairs of allocation and free at one place, one pair every `period_ns`.
  void pairs(uint64_t count, uint64_t period_ns, uint64_t size, const Where &where = kOften) {
    for (uint64_t i = 0; i < count; ++i, now_ns += period_ns) {
      list.push_back(test::alloc(now_ns, 0x10, size, where));
      list.push_back(test::free(now_ns + 5, 0x10, where));
    }
  }
  void finish(uint64_t end_ns, uint64_t stalled_ns = 0) {
    start(1, 4711);
    events(list, 0, stalled_ns);
    end(1, 0, end_ns);
    manifest();
    close();
    found = asJson();
  }
  json churn() const {
    for (const json &finding : found["findings"])
      if (finding["kind"] == "churn")
        return finding;
    return {};
  }
  json table() const {
    for (const json &section : found["sections"])
      if (section["name"] == "churn")
        return section;
    return {};
  }
  std::vector<StreamEvent> list;
  uint64_t now_ns = kStart;
  json found;
};

constexpr uint64_t kPairs = 1'100'000; // an estimated 10 ns per pair give more than 10 ms

} // namespace

TEST_F(Churn, OfTemporariesIsABufferToKeep) {
  pairs(kPairs, 100, 24);
  finish(now_ns);
  const json finding = churn();
  ASSERT_FALSE(finding.is_null()) << found["findings"];
  EXPECT_EQ(finding["confidence"], "likely");
  EXPECT_EQ(finding["site"]["line"], 12);
  EXPECT_EQ(finding["count"], kPairs);
  EXPECT_EQ(finding["bytes"], 24 * kPairs);
  EXPECT_EQ(finding["saves_bytes"], 0) << "what is used again is there all the same";
  EXPECT_EQ(finding["saves_ns"], 10 * (kPairs - 1));
  const json &evidence = finding["evidence"];
  EXPECT_EQ(evidence["allocations"], kPairs);
  EXPECT_EQ(evidence["repeated"], kPairs - 1);
  EXPECT_EQ(evidence["temporary"], kPairs);
  EXPECT_EQ(evidence["reallocs"], 0);
  EXPECT_EQ(evidence["copied_bytes"], 0);
  EXPECT_EQ(evidence["mean_bytes"], 24);
  EXPECT_EQ(evidence["usual_bytes"], 24);
  EXPECT_NEAR(evidence["allocations_per_second"], 1e7, 1e5);
  EXPECT_NEAR(evidence["share_of_time"], 0.1, 0.001);
  EXPECT_NE(std::string(finding["advice"]).find("keep one buffer"), std::string::npos) << finding;
  ASSERT_EQ(table()["rows"].size(), 1u);
  EXPECT_EQ(table()["rows"][0][1], 10 * (kPairs - 1));
  EXPECT_NE(asTable(120).find("Saves about 11.0 ms, 10% of the time."), std::string::npos) << asTable(120);
}

// Allocations that take only a small part of the process's time must give no finding.
TEST_F(Churn, ThatTakesLittleOfTheTimeIsNone) {
  pairs(kPairs, 100, 24);
  finish(now_ns + 900'000'000);
  EXPECT_TRUE(churn().is_null()) << churn();
  EXPECT_EQ(table()["rows"].size(), 1u) << "1 % is shown in the table";
}

// The program waits for the collector for most of the time. It would not wait without msleaks.
TEST_F(Churn, IsComparedWithTheTimeWithoutStalls) {
  pairs(kPairs, 1000, 24);
  finish(now_ns, kPairs * 900);
  const json finding = churn();
  ASSERT_FALSE(finding.is_null()) << found["findings"];
  EXPECT_NEAR(finding["evidence"]["share_of_time"], 0.1, 0.001);
}

TEST_F(Churn, OfAMomentIsNone) {
  pairs(100'000, 20, 24);
  finish(now_ns);
  EXPECT_TRUE(churn().is_null()) << churn();
  EXPECT_TRUE(table().is_null()) << table();
}

TEST_F(Churn, IsNotWhatIsKept) {
  for (uint64_t i = 1; i <= 600'000; ++i, now_ns += 60)
    list.push_back(test::alloc(now_ns, i << 6, 48, kOften));
  finish(now_ns);
  EXPECT_TRUE(churn().is_null()) << churn();
}

TEST_F(Churn, OfBlocksThatComeAndGoIsAHintToAnArena) {
  for (uint64_t round = 0; round < 300; ++round) {
    for (uint64_t i = 1; i <= 1000; ++i, now_ns += 100)
      list.push_back(test::alloc(now_ns, i << 6, 48, kOften));
    for (uint64_t i = 1; i <= 1000; ++i, now_ns += 100)
      list.push_back(test::free(now_ns, i << 6, kOften));
  }
  finish(now_ns);
  const json finding = churn();
  ASSERT_FALSE(finding.is_null()) << found["findings"];
  EXPECT_EQ(finding["confidence"], "hint");
  EXPECT_EQ(finding["evidence"]["repeated"], 299'000);
  EXPECT_EQ(finding["saves_ns"], (299'000 - 300) * 40 + 300 * 10);
  EXPECT_NE(std::string(finding["advice"]).find("arena"), std::string::npos) << finding;
}

TEST_F(Churn, OfABlockThatGrowsIsASizeToReserve) {
  constexpr Where kRealloc{.flags = abi::kRealloc, .site = 1};
  uint64_t copied = 0;
  for (uint64_t round = 0; round < 1000; ++round) {
    uint64_t address = 0x1000;
    list.push_back(test::alloc(now_ns, address, 1024, kOften));
    for (uint64_t step = 2; step <= 100; ++step, now_ns += 1000) {
      const uint64_t to = step % 10 == 0 ? address + (1 << 20) : address; // every tenth step moves the block
      copied += to == address ? 0 : (step - 1) * 1024;
      list.push_back(test::free(now_ns + 10, address, kRealloc));
      list.push_back(test::alloc(now_ns + 20, to, step * 1024, kRealloc));
      address = to;
    }
    list.push_back(test::free(now_ns, address, kOften));
    now_ns += 1000;
  }
  finish(now_ns);
  const json finding = churn();
  ASSERT_FALSE(finding.is_null()) << found["findings"];
  EXPECT_EQ(finding["confidence"], "likely");
  const json &evidence = finding["evidence"];
  EXPECT_EQ(evidence["reallocs"], 99'000);
  EXPECT_EQ(evidence["growth_steps"], 99'000);
  EXPECT_EQ(evidence["longest_chain"], 99);
  EXPECT_EQ(evidence["copied_bytes"], copied);
  EXPECT_FALSE(evidence.contains("usual_bytes"));
  EXPECT_NE(std::string(finding["advice"]).find("reserve the final size"), std::string::npos) << finding;
}

// Each block has 64 MiB. Only the first touch of the pages takes time. It is unknown whether the program touches them,
// so the finding is only a hint.
TEST_F(Churn, OfLargeOnesIsAHint) {
  pairs(100, 50'000'000, 64 << 20);
  finish(now_ns);
  const json finding = churn();
  ASSERT_FALSE(finding.is_null()) << found["findings"];
  EXPECT_EQ(finding["confidence"], "hint");
  EXPECT_EQ(finding["evidence"]["first_touch_ns"], 99u * 16384 * 250);
  EXPECT_NE(std::string(finding["advice"]).find("keep one buffer"), std::string::npos) << finding;
}

// calloc clears the block before the program gets it. The program may need the zeros, so the finding is only a hint.
TEST_F(Churn, OfClearedBlocksIsAHint) {
  pairs(10'000, 10'000, 256 << 10, {.flags = abi::kZeroed, .site = 1});
  finish(now_ns);
  const json finding = churn();
  ASSERT_FALSE(finding.is_null()) << found["findings"];
  EXPECT_EQ(finding["confidence"], "hint");
  EXPECT_NEAR(finding["saves_ns"].get<double>(), 9999 * 10 + 9999.0 * (256 << 10) / 160, 1);
  EXPECT_EQ(finding["evidence"]["cleared_bytes"], uint64_t{10'000} * (256 << 10));
  EXPECT_NE(std::string(finding["advice"]).find("filled with zeros"), std::string::npos) << finding;
}

TEST_F(Churn, OfAPoolIsNone) {
  pairs(kPairs, 100, 24, {.heap = abi::Heap::Pool, .site = 1});
  finish(now_ns);
  EXPECT_TRUE(churn().is_null()) << churn();
}

TEST_F(Churn, StandsBehindWhatSavesMemory) {
  list.push_back(test::alloc(now_ns, 0x20, 100, kTwo)); // this small block leaks
  pairs(kPairs, 100, 24);
  finish(now_ns);
  ASSERT_EQ(found["findings"].size(), 2u) << found["findings"];
  EXPECT_EQ(found["findings"][0]["kind"], "leak");
  EXPECT_EQ(found["findings"][1]["kind"], "churn");
}

// One place allocates often and also makes the peak. So it must have two findings.
TEST_F(Churn, HidesNoHintAboutTheSamePlacesMemory) {
  pairs(kPairs, 100, 24);
  list.push_back(test::alloc(now_ns, 0x20, 1 << 20, kOften));
  list.push_back(test::free(now_ns + 50, 0x20, kOften));
  finish(now_ns + 100);
  ASSERT_EQ(found["findings"].size(), 2u) << found["findings"];
  EXPECT_EQ(found["findings"][0]["kind"], "churn");
  EXPECT_EQ(found["findings"][1]["kind"], "peak");
}

} // namespace msleaks::analysis
