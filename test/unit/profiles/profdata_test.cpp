#include "analysis/counts/profdata.h"

#include "profile_fixture.h"

#include <cmath>
#include <cstring>
#include <fmt/format.h>

namespace msleaks::analysis::profiles {
namespace {

double sharesOfLines(const ProfiledFunction &function, size_t column) {
  double sum = 0;
  for (const ProfiledLine &line : function.lines)
    sum += line.shares[column];
  return sum;
}

// Returns the count of a function. The profile stores this count as a percentage of the counter's sum.
uint64_t countOf(const Profile &profile, const std::string &function, const std::string &counter) {
  return static_cast<uint64_t>(std::llround(profile.functions.at(function).counters.at(counter) / 100 *
                                            static_cast<double>(profile.counters.at(counter))));
}

} // namespace

// The expected counts are those that `llvm-profdata show --all-functions --counts` prints.
TEST(Profdata, CountsOfTheFrontEnd) {
  for (const char *name : {"front-end.19.profdata", "front-end.22.profdata"}) {
    const Result<Profile> profile = readProfdata(golden(name));
    ASSERT_TRUE(profile) << name << ": " << profile.error().message;
    EXPECT_EQ(profile->functions.size(), 4u);
    EXPECT_EQ(profile->counters.at("calls"), 103u);
    EXPECT_EQ(profile->counters.at("counts"), 558u);
    EXPECT_EQ(countOf(*profile, "mc.c:odd", "calls"), 101u);
    EXPECT_EQ(countOf(*profile, "main", "calls"), 1u);
    EXPECT_EQ(countOf(*profile, "never", "calls"), 0u);
    EXPECT_EQ(countOf(*profile, "mc.c:twice", "counts"), 102u);
    const ProfiledFunction &odd = profile->functions.at("mc.c:odd");
    ASSERT_EQ(odd.lines.size(), 10u);
    const double total = 101 + 56 + 58 + 76 + 50 + 25 + 37 + 18 + 19 + 13;
    EXPECT_DOUBLE_EQ(odd.lines[1].shares[1], 100 * 56 / total);
    EXPECT_EQ(odd.lines[9].address, 9u);
    EXPECT_EQ(odd.lines[0].shares[0], 100);
    EXPECT_NEAR(sharesOfLines(odd, 1), 100, 1e-9);
    EXPECT_EQ(profile->functions.at("never").lines.size(), 1u);
  }
}

// LLVM's IR instrumentation counts only the edges outside of a spanning tree. So it is unknown which counter belongs to
// the entry of a function, and the profile has no counter for calls.
TEST(Profdata, CountsOfTheIrHaveNoCalls) {
  for (const char *name : {"ir.19.profdata", "ir.22.profdata"}) {
    const Result<Profile> profile = readProfdata(golden(name));
    ASSERT_TRUE(profile) << name << ": " << profile.error().message;
    EXPECT_EQ(profile->counters.size(), 1u);
    EXPECT_EQ(profile->counters.at("counts"), 155u);
    EXPECT_EQ(profile->functions.at("main").lines.size(), 6u);
  }
}

// Each file has another format version of LLVM. All files have the same content: counters, two records with one name,
// and value profiles.
TEST(Profdata, EachVersion) {
  for (int version = 3; version <= 13; ++version) {
    const Result<Profile> profile = readProfdata(golden(fmt::format("version-{}.profdata", version)));
    ASSERT_TRUE(profile) << version << ": " << profile.error().message;
    EXPECT_EQ(profile->counters.at("calls"), 1u + 5 + 9);
    EXPECT_EQ(profile->counters.at("counts"), 28u + 9 + 9);
    ASSERT_EQ(profile->functions.size(), 3u) << version;
    EXPECT_EQ(countOf(*profile, "main", "calls"), 1u);
    EXPECT_EQ(countOf(*profile, "twice", "calls"), 5u);
    EXPECT_EQ(countOf(*profile, "twice [hash 0x0000000000000064]", "calls"), 9u);
    const ProfiledFunction &main = profile->functions.at("main");
    ASSERT_EQ(main.lines.size(), 3u) << version;
    EXPECT_DOUBLE_EQ(main.lines[1].shares[1], 100 * 20 / 28.0);
    EXPECT_DOUBLE_EQ(main.lines[2].shares[1], 100 * 7 / 28.0);
  }
}

TEST(Profdata, RawProfilesAreToldWhatToDo) {
  const auto raw = golden("raw.profraw");
  EXPECT_TRUE(isRawProfdata(raw));
  expectRefused(readProfdata(raw), "llvm-profdata merge");
}

TEST(Profdata, AnotherVersionIsRefused) {
  auto file = golden("front-end.22.profdata");
  for (const uint8_t version : {2, 14, 99}) {
    file[8] = version;
    expectRefused(readProfdata(file), fmt::format("version {}; known are 3 to 13", version));
  }
}

TEST(Profdata, EveryCutOfTheTableIsRefused) {
  const auto whole = golden("front-end.19.profdata");
  uint64_t table = 0;
  std::memcpy(&table, whole.data() + 32, sizeof table);
  for (size_t size = 0; size < table + 16; ++size)
    EXPECT_FALSE(readProfdata(std::span(whole).first(size))) << size;
}

TEST(Profdata, AFlippedByteIsRefusedOrStillSound) {
  const auto whole = golden("front-end.22.profdata");
  for (size_t at = 8; at < whole.size(); ++at) {
    auto damaged = whole;
    damaged[at] ^= 0xff;
    if (const Result<Profile> profile = readProfdata(damaged))
      EXPECT_TRUE(checkProfile(*profile)) << at;
    else
      EXPECT_EQ(profile.error().message.find('\n'), std::string::npos);
  }
}

} // namespace msleaks::analysis::profiles
