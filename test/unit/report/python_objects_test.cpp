// Tests the account of sampled objects of Python: each sample stands for several objects.
#include "report_fixture.h"

#include "msleaks/abi/python_sample.h"

#include <cmath>

namespace msleaks::analysis {
namespace {

constexpr uint64_t kStepNs = 1'000'000;

class PythonObjects : public ReportTest {
protected:
  static uint64_t at(uint64_t number) { return kStart + number * kStepNs; }
  // A sampled object of this size.
  static StreamEvent sampled(uint64_t time_ns, uint64_t address, uint64_t size, uint32_t site = 1) {
    return test::alloc(
        time_ns, address, size,
        {.heap = abi::Heap::Python, .site = site, .device = static_cast<uint8_t>(abi::sampleUnitsOf(size))});
  }
  static StreamEvent step(uint64_t number) { return test::make<abi::StepEvent>(at(number), {}, number, 0); }
  json reported(const std::vector<StreamEvent> &list) {
    start(1, 4711);
    events(list);
    end(1, 0, at(1000));
    manifest();
    close();
    return asJson();
  }
  static json rowsOf(const json &report) {
    for (const json &section : report["sections"])
      if (section["name"] == "python_objects")
        return section["rows"];
    return json::array();
  }
  // The number of objects of which one sample stands for all.
  static double objects(double requested) { return 1 / (1 - std::exp(-requested / abi::kSampleBytes)); }
};

} // namespace

TEST_F(PythonObjects, ASampleStandsForOthers) {
  const json report =
      reported({sampled(at(1), 0x1000, 60), test::alloc(at(2), 0x2000, 1000, {.site = 2}), sampled(at(3), 0x3000, 64)});
  const json rows = rowsOf(report);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_NEAR(rows[0][1].get<double>(), objects(64) * (60 + 64), 2);
  EXPECT_NEAR(rows[0][2].get<double>(), 2 * objects(64), 1);
  EXPECT_EQ(rows[0][3], 2);
  EXPECT_EQ(report["peak"]["bytes"], 1000) << "the arenas are counted as mappings";
  EXPECT_EQ(report["leaks"]["bytes"], 1000);
}

TEST_F(PythonObjects, AFreeNeedNotKnowOfTheSample) {
  const json report = reported({sampled(at(1), 0x1000, 64), test::free(at(2), 0x1000), sampled(at(3), 0x2000, 64),
                                test::free(at(4), 0x2000), test::free(at(5), 0x2000)});
  EXPECT_EQ(rowsOf(report)[0][3], 1) << "never two at once";
  EXPECT_EQ(report["blocks"]["unmatched_frees"], 1);
}

TEST_F(PythonObjects, AGrownObjectKeepsItsWeight) {
  const Where again{.flags = abi::kRealloc, .site = 1};
  const json rows = rowsOf(reported(
      {sampled(at(1), 0x1000, 32), test::free(at(2), 0x1000, again), test::alloc(at(2) + 1, 0x1000, 512, again)}));
  EXPECT_NEAR(rows[0][1].get<double>(), objects(32) * 512, 2);
}

TEST_F(PythonObjects, ABlockThatArenasCannotHoldIsOneBlock) {
  const Where again{.flags = abi::kRealloc, .site = 1};
  const json report = reported(
      {sampled(at(1), 0x1000, 32), test::free(at(2), 0x1000, again), test::alloc(at(2) + 1, 0x1000, 513, again)});
  EXPECT_EQ(report["peak"]["bytes"], 513);
  EXPECT_NEAR(rowsOf(report)[0][1].get<double>(), objects(32) * 32, 2);
}

TEST_F(PythonObjects, GrowthReplacesThatOfTheArenas) {
  std::vector<StreamEvent> list;
  for (uint64_t number = 1; number <= 10; ++number) {
    list.push_back(step(number));
    for (uint64_t i = 0; i < 64; ++i)
      list.push_back(sampled(at(number) + i, (number << 20) + (i << 12), 64));
    list.push_back(test::alloc(at(number) + 100, number << 30, kMiB, {.heap = abi::Heap::Mapping, .site = 2}));
  }
  for (uint64_t number = 1; number <= 10; ++number) // the program ends
    list.push_back(test::free(at(500), number << 30, {.heap = abi::Heap::Mapping, .site = 2}, kMiB));
  const json found = reported(list)["findings"];
  EXPECT_EQ(found[0]["kind"], "growth");
  EXPECT_EQ(found[0]["heap"], "python");
  EXPECT_NEAR(found[0]["evidence"]["growth_bytes_per_step"].get<double>(), 64 * 64 * objects(64), 64);
  EXPECT_EQ(found[0]["evidence"]["sampled_every_bytes"], abi::kSampleBytes);
  for (const json &finding : found)
    EXPECT_TRUE(finding["kind"] != "growth" || finding["heap"] == "python");
}

} // namespace msleaks::analysis
