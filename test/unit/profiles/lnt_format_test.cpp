#include "analysis/counts/lnt_format.h"

#include "analysis/counts/escaped.h"
#include "profile_fixture.h"

#include <cmath>
#include <limits>

namespace msleaks::analysis::profiles {
namespace {

Profile written(const Profile &profile) {
  const Result<std::string> file = writeLnt(profile);
  EXPECT_TRUE(file) << file.error().message;
  Result<Profile> read = readLnt(bytes(*file));
  EXPECT_TRUE(read) << read.error().message;
  return std::move(*read);
}

} // namespace

TEST(LntFormat, ReadsWhatLntWrote) {
  const Result<Profile> profile = readLnt(golden("lnt.v2.lntprof"));
  ASSERT_TRUE(profile) << profile.error().message;
  expectSame(*profile, goldenProfile());
}

TEST(LntFormat, WritesTheBytesThatLntWrites) {
  const Result<std::string> file = writeLnt(goldenProfile());
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(bytes(*file), golden("lnt.v2.lntprof"));
}

TEST(LntFormat, AnEmptyProfile) { expectSame(written({}), {}); }

TEST(LntFormat, CountersOf64BitsAreExact) {
  Profile profile;
  profile.counters = {{"most", UINT64_MAX}, {"odd", (uint64_t{1} << 53) + 1}};
  EXPECT_EQ(written(profile).counters, profile.counters);
}

// Escaping changes the order of these names: '\n' is before '\\', but "\\n" is after "\\\\". Each name must keep its
// values.
TEST(LntFormat, NamesWithNewlinesAndCommasSurvive) {
  Profile profile;
  profile.counters = {{"a\nb", 1}, {"a\\b", 2}, {"a]", 3}};
  profile.functions["f\n(int, char)"] = {{{"a\nb", 1}, {"a\\b", 2}, {"a]", 3}},
                                         {{{1, 2, 3}, 16, "jmp\n,x"}, {{4, 5, 6}, 20, "\xff\\n"}}};
  profile.functions["f\\n(int, char)"] = {{{"a]", 4}}, {{{7}, 16, "jmp\n,x"}}};
  expectSame(written(profile), profile);
}

TEST(LntFormat, ATextThatIsTheMarkSurvives) {
  Profile profile;
  profile.functions["f"] = {{}, {{{}, 1, std::string(kEscapedMark)}, {{}, 2, "\\n"}}};
  expectSame(written(profile), profile);
}

// LNT's own readers do not undo escapes. So names that need no escape must stay unchanged.
TEST(LntFormat, WithoutNeedNothingIsEscaped) {
  Profile profile;
  profile.functions["operator\\n"] = {{}, {{{}, 1, "\\x41"}}};
  const Result<std::string> file = writeLnt(profile);
  ASSERT_TRUE(file);
  EXPECT_NE(file->find("operator\\n\n"), std::string::npos);
  expectSame(*readLnt(bytes(*file)), profile);
}

TEST(LntFormat, EveryCutIsRefused) {
  const std::vector<uint8_t> whole = golden("lnt.v2.lntprof");
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(readLnt(std::span(whole).first(size))) << size;
}

TEST(LntFormat, AFlippedByteIsRefusedOrStillSound) {
  const std::vector<uint8_t> whole = golden("lnt.v2.lntprof");
  for (size_t at = 0; at < whole.size(); ++at)
    for (const uint8_t mask : {0x01, 0x80, 0xff}) {
      std::vector<uint8_t> damaged = whole;
      damaged[at] ^= mask;
      if (const Result<Profile> profile = readLnt(damaged)) {
        EXPECT_TRUE(checkProfile(*profile)) << at;
      } else {
        EXPECT_EQ(profile.error().message.find('\n'), std::string::npos) << profile.error().message;
      }
    }
}

TEST(LntFormat, APoolElsewhereIsRefused) {
  std::string file(1, '\x02');
  for (int section = 0; section < 8; ++section)
    file += section == 6 ? std::string("\0\0shared.pool\n", 14) : std::string("\0\0", 2);
  expectRefused(readLnt(bytes(file)), "in another file ('shared.pool')");
}

TEST(LntFormat, WhatIsNoPercentageIsNotWritten) {
  for (const double wrong : {-1.0, double(NAN), std::numeric_limits<double>::infinity(), 1e300}) {
    Profile profile;
    profile.functions["f"] = {{{"cycles", 1}}, {{{wrong}, 1, "ret"}}};
    const Result<std::string> file = writeLnt(profile);
    ASSERT_FALSE(file) << wrong;
    profile.functions["f"] = {{{"cycles", wrong}}, {}};
    EXPECT_FALSE(writeLnt(profile)) << wrong;
  }
}

TEST(LntFormat, AddressesThatFallAreNotWritten) {
  Profile profile;
  profile.functions["f"] = {{}, {{{}, 2, "a"}, {{}, 1, "b"}}};
  const Result<std::string> file = writeLnt(profile);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().status, ExitStatus::OwnFault);
  EXPECT_NE(file.error().message.find("fall"), std::string::npos);
}

TEST(Escaped, IsUndone) {
  for (const std::string text : {"", "plain", "a\nb", "a\\nb", "\\", "\\\\x0", "\xff\xfe", "gr\xc3\xb6\xc3",
                                 "\xed\xa0\x80", "\xf4\x90\x80\x80"}) {
    EXPECT_TRUE(isPlain(escaped(text))) << escaped(text);
    EXPECT_EQ(unescaped(escaped(text)), text);
  }
  EXPECT_EQ(escaped("a\nb\\\xff"), "a\\nb\\\\\\xff");
  // The second byte begins a new sequence. It does not continue the sequence of the first byte.
  EXPECT_EQ(escaped("\xc3\xc3\xa9"), "\\xc3\xc3\xa9");
  EXPECT_FALSE(isPlain("a\nb"));
  EXPECT_FALSE(isPlain("\xed\xa0\x80")) << "a surrogate";
  EXPECT_TRUE(isPlain("größe"));
  EXPECT_EQ(unescaped("\\q\\x4"), "\\q\\x4") << "of somebody else";
}

} // namespace msleaks::analysis::profiles
