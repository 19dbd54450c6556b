#include "path_formats.h"

namespace msleaks::analysis {

TEST(Folded, ALineForEachPath) {
  EXPECT_EQ(test::exported("folded", test::smallReport()), "main;make();grow(int) 1000\n"
                                                           "forward (model.py:12);make();grow(int) 500\n"
                                                           "make();grow(int) 24\n"
                                                           "libx.so+0x7123 100\n");
}

TEST(Folded, LeaksIfTheyAreChosen) {
  EXPECT_EQ(test::exported("folded", test::smallReport(), Blocks::Leaks), "main;make();grow(int) 64\n");
}

TEST(Folded, NoBlocksAreNoLines) { EXPECT_EQ(test::exported("folded", Report{}), ""); }

TEST(Folded, BlocksOfNoBytesAreNoLine) {
  Report report = test::smallReport();
  report.peak.by_site[1].bytes = 0;
  EXPECT_EQ(test::exported("folded", report).find("libx"), std::string::npos);
}

TEST(Folded, ANameNeverBreaksTheLine) {
  for (const test::HostileName &hostile : test::kHostileNames) {
    const std::string name = hostile.name == "a;b" ? "a\\x3bb" : hostile.written;
    EXPECT_EQ(test::exported("folded", test::reportOf(hostile)), name + " 7\n");
  }
}

} // namespace msleaks::analysis
