#include "path_formats.h"

#include <nlohmann/json.hpp>

namespace msleaks::analysis {
using nlohmann::json;

TEST(Dhat, FramesBeginWithTheAllocatorsCaller) {
  EXPECT_EQ(test::exported("dhat", test::smallReport()),
            R"({"dhatFileVersion":2,"mode":"msleaks","verb":"Alive at the peak","bklt":false,"bkacc":false,"tu":"ns",)"
            R"("Mtu":"ms","cmd":"/bin/net two words","pid":42,"te":5000000,"pps":[{"tb":1000,"tbk":2,"fs":[1,2,3]},)"
            R"({"tb":500,"tbk":1,"fs":[1,2,4]},{"tb":24,"tbk":3,"fs":[1,2]},{"tb":100,"tbk":1,"fs":[5]}],)"
            R"json("ftbl":["[root]","grow(int) (net.cpp:7)","make() (net.cpp:20)","main (main.cpp:3)",)json"
            R"json("forward (model.py:12)","libx.so+0x7123"]})json"
            "\n");
}

TEST(Dhat, LeaksIfTheyAreChosen) {
  const json file = json::parse(test::exported("dhat", test::smallReport(), Blocks::Leaks));
  EXPECT_EQ(file["verb"], "Leaks");
  EXPECT_EQ(file["pps"], json::parse(R"([{"tb":64,"tbk":1,"fs":[1,2,3]}])"));
}

// The viewer refuses a file in which two points have the same frames.
TEST(Dhat, PathsThatLookEqualAreOnePoint) {
  Report report = test::smallReport();
  SiteLine same = report.peak.by_site[0];
  ++same.site.column;
  same.bytes = 5;
  same.count = 2;
  same.paths.clear();
  report.peak.by_site.push_back(same);
  const json points = json::parse(test::exported("dhat", report))["pps"];
  ASSERT_EQ(points.size(), 4u);
  EXPECT_EQ(points[2], json::parse(R"({"tb":29,"tbk":5,"fs":[1,2]})"));
}

TEST(Dhat, NoBlocksAreNoPoints) {
  const json file = json::parse(test::exported("dhat", Report{}));
  EXPECT_EQ(file["pps"], json::array());
  EXPECT_EQ(file["pid"], 0);
}

TEST(Dhat, AnyNameIsShown) {
  for (const test::HostileName &hostile : test::kHostileNames) {
    const json file = json::parse(test::exported("dhat", test::reportOf(hostile)));
    EXPECT_EQ(file["ftbl"][1], hostile.written + " (" + hostile.written + ":1)");
    EXPECT_EQ(file["cmd"], hostile.written);
    EXPECT_EQ(file["pps"][0]["tb"], 7);
  }
}

} // namespace msleaks::analysis
