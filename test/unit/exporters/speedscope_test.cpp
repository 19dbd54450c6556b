#include "path_formats.h"

#include <nlohmann/json.hpp>
#include <numeric>

namespace msleaks::analysis {
using nlohmann::json;

TEST(Speedscope, SamplesBeginWithTheOutermostCall) {
  EXPECT_EQ(
      test::exported("speedscope", test::smallReport()),
      R"({"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"msleaks",)"
      R"("name":"net: alive at the peak","activeProfileIndex":0,"shared":{"frames":[)"
      R"json({"name":"grow(int)","file":"net.cpp","line":7,"col":3},{"name":"make()","file":"net.cpp","line":20,"col":5},)json"
      R"({"name":"main","file":"main.cpp","line":3},{"name":"forward","file":"model.py","line":12},)"
      R"({"name":"libx.so+0x7123"}]},"profiles":[{"type":"sampled","name":"net: alive at the peak","unit":"bytes",)"
      R"("startValue":0,"endValue":1624,"samples":[[2,1,0],[3,1,0],[1,0],[4]],"weights":[1000,500,24,100]}]})"
      "\n");
}

TEST(Speedscope, LeaksIfTheyAreChosen) {
  const json file = json::parse(test::exported("speedscope", test::smallReport(), Blocks::Leaks));
  EXPECT_EQ(file["name"], "net: leaks");
  EXPECT_EQ(file["profiles"][0]["weights"], json({64}));
}

TEST(Speedscope, AMomentIsNamed) {
  Report report = test::smallReport();
  report.at = ReportMoment{"step:3", 1};
  EXPECT_EQ(json::parse(test::exported("speedscope", report))["name"], "net: alive at step:3");
  report.at = ReportMoment{"end", 1};
  EXPECT_EQ(json::parse(test::exported("speedscope", report))["name"], "net: alive at the end");
}

TEST(Speedscope, NoBlocksAreNoSamples) {
  const json profile = json::parse(test::exported("speedscope", Report{}))["profiles"][0];
  EXPECT_EQ(profile["samples"], json::array());
  EXPECT_EQ(profile["weights"], json::array());
}

TEST(Speedscope, AnyNameIsShown) {
  for (const test::HostileName &hostile : test::kHostileNames) {
    const json file = json::parse(test::exported("speedscope", test::reportOf(hostile)));
    EXPECT_EQ(file["shared"]["frames"][0]["name"], hostile.written);
    EXPECT_EQ(file["shared"]["frames"][0]["file"], hostile.written);
    EXPECT_EQ(file["profiles"][0]["weights"], json({7}));
  }
}

} // namespace msleaks::analysis
