#include "analysis/counts/lnt_report.h"

#include "analysis/counts/profile.h"
#include "profile_fixture.h"

#include <nlohmann/json.hpp>
#include <sstream>

namespace msleaks::analysis::profiles {
namespace {

using json = nlohmann::json;

template <class F> json jsonOf(F &&write) {
  std::ostringstream out;
  write(out);
  return json::parse(out.str());
}

} // namespace

// The expected JSON is what `lnt profile getTopLevelCounters`, `getFunctions` and `getCodeForFunction` print for the
// same file.
TEST(ProfileJson, HasTheShapesOfLnt) {
  const Profile profile = goldenProfile();
  EXPECT_EQ(jsonOf([&](std::ostream &out) { writeCountersJson(out, profile); }),
            json::parse(R"({"branch-misses": 3000000000000, "cycles": 12345})"));
  EXPECT_EQ(jsonOf([&](std::ostream &out) { writeFunctionsJson(out, profile); }), json::parse(R"j({
    "empty": {"counters": {"cycles": 0.125}, "length": 0},
    "gr\u00f6\u00dfe, f(int, x<a,b>)": {"counters": {"cycles": 12.25}, "length": 1},
    "main": {"counters": {"branch-misses": 10.5, "cycles": 45.0}, "length": 2}
})j"));
  const json main = json::parse(R"([[{"branch-misses": 0.0, "cycles": 50.0}, 4096, "\tadd r0, r0, r1"],
                                    [{"branch-misses": 0.0, "cycles": 50.0}, 4100, "\tret"]])");
  EXPECT_EQ(jsonOf([&](std::ostream &out) { writeCodeJson(out, profile.functions.at("main")); }), main);
  EXPECT_EQ(jsonOf([&](std::ostream &out) { writeCodeJson(out, profile); })["main"], main);
}

TEST(ProfileJson, OfNothing) {
  EXPECT_EQ(jsonOf([](std::ostream &out) { writeCountersJson(out, {}); }), json::object());
  EXPECT_EQ(jsonOf([](std::ostream &out) { writeFunctionsJson(out, {}); }), json::object());
  EXPECT_EQ(jsonOf([](std::ostream &out) { writeCodeJson(out, Profile{}); }), json::object());
  EXPECT_EQ(jsonOf([](std::ostream &out) { writeCodeJson(out, ProfiledFunction{}); }), json::array());
}

TEST(ProfileJson, BytesThatAreNoTextAreReplaced) {
  Profile profile;
  profile.functions["\xff"] = {{}, {}};
  EXPECT_EQ(jsonOf([&](std::ostream &out) { writeFunctionsJson(out, profile); }).begin().key(), "\uFFFD");
}

TEST(LntReport, HasWhatLntAsksFor) {
  LntReport report{"box",
                   {{"os", "Linux"}},
                   {{"llvm_project_revision", "123"}},
                   0,
                   86'399,
                   "nts.suite/program",
                   {{"execution_time", {0.5, 0.25}}, {"code_size", {7}}}};
  const json object = jsonOf([&](std::ostream &out) { writeLntReport(out, report, "\x02\xff"); });
  EXPECT_EQ(object, json::parse(R"({"format_version": "2", "machine": {"name": "box", "os": "Linux"},
    "run": {"start_time": "1970-01-01T00:00:00", "end_time": "1970-01-01T23:59:59", "llvm_project_revision": "123"},
    "tests": [{"name": "nts.suite/program", "code_size": 7.0, "execution_time": [0.5, 0.25], "profile": "Av8="}]})"));
}

TEST(LntReport, Base64) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  EXPECT_EQ(base64(std::string("\xfb\xff\xfe", 3)), "+//+");
}

TEST(LntReport, AMetricOfTheProfileItself) {
  Profile profile = goldenProfile();
  EXPECT_EQ(metricOf(profile), (std::pair<std::string, double>("code_size", 4)));
  profile.counters["task-clock:u"] = 2'500'000'000;
  EXPECT_EQ(metricOf(profile), (std::pair<std::string, double>("execution_time", 2.5)));
}

} // namespace msleaks::analysis::profiles
