// Tests the resident memory at the peak, and the places of each process.
#include "report_fixture.h"

namespace msleaks::analysis {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

class ResidentTest : public ReportTest {
protected:
  void SetUp() override {
    ReportTest::SetUp();
    start(1, 4711);
    start(2, 4712);
    events({test::alloc(kStart + 100, 0x10, 8 * kMiB, {.site = 1}),
            test::alloc(kStart + kSecond, 0x10, 2 * kMiB, {.process = 2, .site = 1}),
            test::alloc(kStart + kSecond + 1, 0x20, 1 * kMiB, {.process = 2, .site = 2}),
            test::free(kStart + 3 * kSecond, 0x10, {.site = 1})});
  }
  void sample(uint32_t process, uint64_t time_ns, uint64_t mib) {
    const ResidentSample samples[] = {{process, time_ns, mib * kMiB, kMiB}};
    ASSERT_TRUE(writer->resident(samples));
  }
  void endAll() {
    end(1, 0, kStart + 4 * kSecond);
    end(2, 0, kStart + 4 * kSecond);
    manifest();
    close();
  }
  static json sectionOf(const json &report, const std::string &name) {
    for (const json &section : report["sections"])
      if (section["name"] == name)
        return section;
    return {};
  }
};

TEST_F(ResidentTest, IsTheNearestSampleOfEachProcess) {
  sample(1, kStart + kSecond / 2, 9);
  sample(1, kStart + kSecond, 10);
  sample(1, kStart + 2 * kSecond, 30);
  sample(2, kStart + kSecond + 10, 4);
  endAll();
  const json report = asJson();
  EXPECT_EQ(report["peak"]["bytes"], 11 * kMiB);
  EXPECT_EQ(report["peak"]["resident_bytes"], 14 * kMiB);
  const json &first = report["peak"]["by_process"][0];
  EXPECT_EQ(first["resident_bytes"], 9 * kMiB);
  EXPECT_EQ(first["highest_resident_bytes"], 30 * kMiB);
  const json resident = sectionOf(report, "resident");
  ASSERT_EQ(resident["rows"].size(), 2u);
  EXPECT_EQ(resident["rows"][0], json({"pid 4711 (net)", 8 * kMiB, 9 * kMiB, 30 * kMiB}));
  EXPECT_NE(asTable().find("peak    11.0 MiB at 1.00 s after the start; then 14.0 MiB resident"), std::string::npos)
      << asTable();
}

TEST_F(ResidentTest, IsWhatItWasLastAndNotWhatComesLater) {
  sample(2, kStart - kSecond / 2, 20);
  sample(1, kStart + 3 * kSecond, 30);
  endAll();
  const json processes = asJson()["peak"]["by_process"];
  EXPECT_TRUE(processes[0]["resident_bytes"].is_null());
  EXPECT_EQ(processes[1]["resident_bytes"], 20 * kMiB); // the memory has not changed since the sample
}

TEST_F(ResidentTest, IsNotKnownWithoutASampleNearby) {
  sample(1, kStart + 3 * kSecond, 30);
  endAll();
  const json report = asJson();
  EXPECT_TRUE(report["peak"]["resident_bytes"].is_null());
  EXPECT_TRUE(report["peak"]["by_process"][0]["resident_bytes"].is_null());
  EXPECT_EQ(report["peak"]["by_process"][0]["highest_resident_bytes"], 30 * kMiB);
  EXPECT_EQ(sectionOf(report, "resident")["rows"].size(), 1u);
  EXPECT_EQ(asTable().find("resident"), std::string::npos);
}

TEST_F(ResidentTest, PlacesStandByProcess) {
  endAll();
  const json places = sectionOf(asJson(), "process_places");
  ASSERT_EQ(places["rows"].size(), 3u);
  EXPECT_EQ(places["rows"][0][0], "pid 4711 (net)");
  EXPECT_EQ(places["rows"][0][1]["line"], 12);
  EXPECT_EQ(places["rows"][0][2], 8 * kMiB);
  EXPECT_EQ(places["rows"][1][0], "pid 4712 (net)");
  EXPECT_EQ(places["rows"][1][2], 2 * kMiB);
  EXPECT_EQ(places["rows"][2][1]["line"], 3);
  EXPECT_EQ(places["totals"][2], 11 * kMiB);
}

TEST_F(ResidentTest, SectionsAreSortedByTheirOwnColumns) {
  endAll();
  const auto tableBy = [&](const char *sort) {
    std::ostringstream out;
    writeReportTable(out, report(), {.columns = 80, .sort = sort});
    const std::string text = out.str();
    return text.substr(text.find("At the peak, by process and place"));
  };
  const auto isBefore = [](const std::string &text, const char *first, const char *second) {
    return text.find(first) < text.find(second);
  };
  EXPECT_TRUE(isBefore(tableBy(""), "pid 4711", "pid 4712"));
  EXPECT_TRUE(isBefore(tableBy("place"), "net.cpp:12", "net.cpp:3"));
  EXPECT_TRUE(isBefore(tableBy("bytes"), "8.00 MiB", "2.00 MiB"));
  EXPECT_TRUE(isBefore(tableBy("age"), "8.00 MiB", "2.00 MiB")); // the table has no column for the age
}

} // namespace
} // namespace msleaks::analysis
