// Tests the table of the least and the most memory in each step of a program.
#include "report_fixture.h"

namespace msleaks::analysis {
namespace {

constexpr Where kThirdDevice{.heap = abi::Heap::Device, .site = 1, .device = 3};

class Fluctuation : public ReportTest {
protected:
  void step(uint64_t number) { list.push_back(test::make<abi::StepEvent>(now(), {}, number, 0)); }
  void alloc(uint64_t address, uint64_t bytes, const Where &where) {
    list.push_back(test::alloc(now(), address << 4, bytes, where));
  }
  void free(uint64_t address, const Where &where) { list.push_back(test::free(now(), address << 4, where)); }
  json rows() {
    start(1, 4711);
    events(list);
    end(1, 0, now());
    manifest();
    close();
    const json report = asJson();
    for (const json &section : report["sections"])
      if (section["name"] == "fluctuation")
        return section["rows"];
    return {};
  }
  uint64_t now() { return kStart + ++ms * 1'000'000; }
  std::vector<StreamEvent> list;
  uint64_t ms = 0;
};

} // namespace

// 1,000 bytes stay allocated. In addition, steps 1 to 4 allocate and free 3,000, 300, 100 and 200 bytes.
TEST_F(Fluctuation, IsTheLeastOfAStepBesideTheMost) {
  alloc(1, 1000, kPart);
  const uint64_t more[] = {3000, 300, 100, 200};
  for (uint64_t number = 1; number <= 4; ++number) {
    step(number);
    alloc(2, more[number - 1], kPart);
    free(2, kPart);
    alloc(3, 40, kThirdDevice);
    free(3, kThirdDevice);
    step(number); // another thread reports the step, too
  }
  step(5);
  alloc(4, 70'000, kPart);
  alloc(5, 7, {.site = 1});
  const json found = rows();
  ASSERT_EQ(found.size(), 3u) << found;
  EXPECT_EQ(found[0][1], "device 3");
  EXPECT_EQ(found[0][2], 2);
  EXPECT_EQ(found[0][5], 0.0);
  EXPECT_EQ(found[1][0], "pid 4711 (net)");
  EXPECT_EQ(found[1][1], "pool");
  EXPECT_EQ(std::vector<uint64_t>({found[1][2], found[1][3], found[1][4]}), (std::vector<uint64_t>{2, 1000, 1300}))
      << "without the first step, and without the last, which has not ended";
  EXPECT_NEAR(found[1][5], 1000.0 / 1300, 1e-9);
  EXPECT_EQ(std::vector<uint64_t>({found[2][2], found[2][3], found[2][4]}), (std::vector<uint64_t>{3, 1000, 1100}));
}

TEST_F(Fluctuation, NeedsSteps) {
  alloc(1, 1000, kPart);
  EXPECT_TRUE(rows().is_null());
}

} // namespace msleaks::analysis
