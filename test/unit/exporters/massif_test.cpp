#include "path_formats.h"

namespace msleaks::analysis {
namespace {

std::string massifOf(const Report &report) {
  std::ostringstream out;
  std::get<std::unique_ptr<ReportExporter>>(formatOf("massif")->make())->write(report, out);
  return out.str();
}

Report withTotal(Report report, std::vector<uint64_t> moments, std::vector<uint64_t> bytes) {
  Series series;
  series.moments = std::move(moments);
  Series::Curve total;
  total.by = "total";
  total.bytes = std::move(bytes);
  series.curves = {total};
  report.series = std::make_shared<const Series>(std::move(series));
  return report;
}

std::string snapshot(int number, const char *time, int bytes, const char *tree) {
  return "#-----------\nsnapshot=" + std::to_string(number) + "\n#-----------\ntime=" + time +
         "\nmem_heap_B=" + std::to_string(bytes) + "\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=" + tree + "\n";
}

} // namespace

TEST(Massif, ASnapshotForEachMomentAndATreeAtThePeak) {
  const Report report = withTotal(test::smallReport(), {1'000'001, 2'500'000, 3'000'000}, {600, 1624, 1624});
  EXPECT_EQ(massifOf(report), "desc: (none)\ncmd: /bin/net two words\ntime_unit: ms\n" +
                                  snapshot(0, "0.000000", 0, "empty") + snapshot(1, "1.000001", 600, "empty") +
                                  snapshot(2, "2.500000", 1624, "peak") +
                                  "n2: 1624 (all allocation functions)\n"
                                  " n1: 1524 0x0: grow(int) (net.cpp:7)\n"
                                  "  n2: 1524 0x0: make() (net.cpp:20)\n"
                                  "   n0: 1000 0x0: main (main.cpp:3)\n"
                                  "   n0: 500 0x0: forward (model.py:12)\n"
                                  " n0: 100 0x7123: libx.so+0x7123\n" +
                                  snapshot(3, "3.000000", 1624, "empty"));
}

TEST(Massif, WithoutTheMomentOfThePeakItIsAdded) {
  Report report = withTotal(test::smallReport(), {1'000'000, 3'000'000}, {600, 700});
  report.start_ns = 1'000'000'000;
  report.peak.time_ns = 1'002'000'000;
  const std::string text = massifOf(report);
  EXPECT_NE(text.find(snapshot(2, "2.000000", 1624, "peak")), std::string::npos) << text;
  EXPECT_NE(text.find(snapshot(3, "3.000000", 700, "empty")), std::string::npos) << text;
}

TEST(Massif, NoMemoryIsATreeWithoutCallers) {
  const std::string text = massifOf(withTotal(Report{}, {}, {}));
  EXPECT_NE(text.find("heap_tree=peak\nn0: 0 (all allocation functions)\n"), std::string::npos) << text;
}

// A number sign would begin a comment.
TEST(Massif, AnyNameIsOneLineWithoutComment) {
  std::vector<test::HostileName> names = test::kHostileNames;
  names.push_back({"f#1", "f\\x23"
                          "1"});
  for (const test::HostileName &hostile : names) {
    const std::string text = massifOf(withTotal(test::reportOf(hostile), {}, {}));
    EXPECT_NE(text.find("\ncmd: " + hostile.written + "\n"), std::string::npos) << text;
    EXPECT_NE(text.find("\n n0: 7 0x0: " + hostile.written + " (" + hostile.written + ":1)\n"), std::string::npos)
        << text;
  }
}

} // namespace msleaks::analysis
