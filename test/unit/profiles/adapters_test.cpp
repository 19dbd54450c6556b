#include "analysis/adapters/registry.h"

#include "perf_fixture.h"
#include "profile_fixture.h"

#include <algorithm>

namespace msleaks::analysis {
namespace {

using profiles::golden;
using profiles::goldenPath;

Result<profiles::Profile> load(const std::string &path) {
  ProfileLoading loading;
  return loadProfile(path, loading);
}

// Returns the names of the adapters that recognise the file.
std::vector<std::string_view> claims(const std::vector<uint8_t> &file) {
  std::vector<std::string_view> names;
  for (const ProfileAdapter &adapter : profileAdapters())
    if (adapter.recognizes(file))
      names.push_back(adapter.name);
  return names;
}

} // namespace

TEST(Adapters, EachNameOnceInOrder) {
  std::vector<std::string_view> names;
  for (const ProfileAdapter &adapter : profileAdapters()) {
    names.push_back(adapter.name);
    EXPECT_FALSE(adapter.summary.empty());
  }
  EXPECT_EQ(names, (std::vector<std::string_view>{"lnt1", "lnt2", "perf", "profdata"}));
}

TEST(Adapters, AFileIsKnownByOneOfThem) {
  using Names = std::vector<std::string_view>;
  EXPECT_EQ(claims(golden("lnt.v1.lntprof")), Names{"lnt1"});
  EXPECT_EQ(claims(golden("lnt.v2.lntprof")), Names{"lnt2"});
  EXPECT_EQ(claims(golden("ir.22.profdata")), Names{"profdata"});
  EXPECT_EQ(claims(golden("raw.profraw")), Names{"profdata"});
  EXPECT_EQ(claims(profiles::bytes("PERFILE2")), Names{"perf"});
  EXPECT_EQ(claims({}), Names{});
}

TEST(Adapters, LoadWhatIsTheirs) {
  for (const char *name : {"lnt.v1.lntprof", "lnt.v2.lntprof"}) {
    const auto profile = load(goldenPath(name));
    ASSERT_TRUE(profile) << profile.error().message;
    profiles::expectSame(*profile, profiles::goldenProfile());
  }
  EXPECT_TRUE(load(goldenPath("front-end.19.profdata")));
}

TEST(Adapters, RefusalsNameTheFileAndWhatToDo) {
  profiles::expectRefused(load(goldenPath("README.md")),
                          "README.md' is no profile of a known format; there are lnt1, lnt2, perf, profdata");
  profiles::expectRefused(load(goldenPath("evil.lntprof")), "evil.lntprof': its pickle asks");
  profiles::expectRefused(load(goldenPath("missing")), "missing");
  profiles::expectRefused(load(MSLEAKS_GOLDEN), "golden");
}

// The image that the perf.data file names is missing. So functions have no names, but the result must contain every
// sample.
class PerfAdapter : public profiles::PerfFixture {};

TEST_F(PerfAdapter, WhatCannotBeNamedIsStillThere) {
  event(kFields, 1);
  map(7, 0x1000, 0x1000, 0, "/no/such/image", 10);
  sample(7, 0x1010, 20, 3);
  sample(7, 0x1020, 21, 1);
  sample(7, 0x9000, 22, 4);
  ProfileLoading loading;
  const auto profile = loadProfile(store(file()), loading);
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->counters.at("cpu-clock"), 8u);
  const auto &image = profile->functions.at("[image]");
  EXPECT_EQ(image.counters.at("cpu-clock"), 50);
  ASSERT_EQ(image.lines.size(), 2u);
  EXPECT_EQ(image.lines[0].address, 0x10u);
  EXPECT_EQ(image.lines[0].shares, std::vector<double>{75});
  EXPECT_EQ(profile->functions.at("[unknown]").counters.at("cpu-clock"), 50);
  ASSERT_EQ(loading.notes.size(), 1u);
  EXPECT_NE(loading.notes[0].find("/no/such/image"), std::string::npos);
}

} // namespace msleaks::analysis
