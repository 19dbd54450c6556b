#include "analysis/counts/lnt_v1.h"

#include "analysis/counts/pickle.h"
#include "profile_fixture.h"

#include <zlib.h>

namespace msleaks::analysis::profiles {
namespace {

std::vector<uint8_t> packed(const std::string &content) {
  uLongf size = compressBound(content.size());
  std::vector<uint8_t> bytes(size);
  EXPECT_EQ(compress(bytes.data(), &size, reinterpret_cast<const Bytef *>(content.data()), content.size()), Z_OK);
  bytes.resize(size);
  return bytes;
}

// Returns {'counters': {…}, 'functions': {'f': {'counters': {'c': 1}, 'data': […]}}} in pickle's text protocol 0.
std::string pickled(const std::string &counters, const std::string &lines) {
  return "(dS'counters'\n(d" + counters + "sS'functions'\n(dS'f'\n(dS'counters'\n(dS'c'\nI1\nssS'data'\n(l" + lines +
         "sss.";
}

} // namespace

TEST(LntV1, ReadsWhatLntWroteInEveryProtocol) {
  for (const char *name : {"lnt.v1.lntprof", "lnt.v1.protocol0.lntprof", "lnt.v1.protocol2.lntprof"}) {
    const Result<Profile> profile = readLntV1(golden(name));
    ASSERT_TRUE(profile) << name << ": " << profile.error().message;
    expectSame(*profile, goldenProfile());
  }
}

TEST(LntV1, LinesInTheOrderOfItsDocumentation) {
  const Result<Profile> profile = readLntV1(golden("lnt.v1.documented.lntprof"));
  ASSERT_TRUE(profile) << profile.error().message;
  expectSame(*profile, goldenProfile());
}

TEST(LntV1, NothingIsRun) { expectRefused(readLntV1(golden("evil.lntprof")), "could run code and is not read"); }

TEST(LntV1, EveryCutIsRefused) {
  const std::vector<uint8_t> whole = golden("lnt.v1.lntprof");
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(readLntV1(std::span(whole).first(size))) << size;
}

TEST(LntV1, WhatIsNoProfileIsRefused) {
  ASSERT_TRUE(readLntV1(packed(pickled("S'c'\nI5\ns", "(l(dS'c'\nF100.0\nsaI16\naS'ret'\naa"))))
      << "the sound one that the others are made of";
  expectRefused(readLntV1(packed("N.")), "no counters, or no functions");
  expectRefused(readLntV1(packed("(l.")), "no counters, or no functions");
  expectRefused(readLntV1(packed(pickled("S'c'\nI-5\ns", ""))), "'c' is no count");
  expectRefused(readLntV1(packed(pickled("S'c'\nFnan\ns", ""))), "'c' is no count");
  expectRefused(readLntV1(packed(pickled("S'c'\nI5\ns", "I1\na"))), "no list of three");
  expectRefused(readLntV1(packed(pickled("S'c'\nI5\ns", "(l(daI-16\naS'ret'\naa"))), "no address, or no text");
  expectRefused(readLntV1(packed(pickled("S'c'\nI5\ns", "(l(dS'other'\nF1.0\nsaI16\naS'ret'\naa"))),
                "that the function has not");
  expectRefused(readLntV1(packed(pickled("S'c'\nI5\ns", "(l(dS'c'\nF-1.0\nsaI16\naS'ret'\naa"))), "not a percentage");
  expectRefused(readLntV1(packed("(l")), "damaged");
}

// LNT's import of perf.data writes files whose addresses are not in order. The reader must sort the addresses.
TEST(LntV1, AddressesThatFallAreSorted) {
  const auto profile = readLntV1(packed(pickled("", "(l(daI32\naS'b'\naa(l(daI16\naS'a'\naa")));
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->functions.at("f").lines[0].text, "a");
  EXPECT_EQ(profile->functions.at("f").lines[1].address, 32u);
}

TEST(Pickle, AListThatHoldsItself) {
  const auto pickle = Pickle::parse("(lp0\ng0\na.");
  ASSERT_TRUE(pickle) << pickle.error().message;
  EXPECT_EQ(pickle->itemsOf(pickle->root()).front(), pickle->root());
}

TEST(Pickle, NumbersOfEachKind) {
  const std::string all = std::string("]\x94(K\xff") + "M\x34\x12" + "J\xfe\xff\xff\xff" +
                          std::string("\x8a\x02\x00\x80", 4) +
                          std::string("\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00", 11) +
                          std::string("G\x40\x59\0\0\0\0\0\0", 9) + "I42\nL-7L\nF0.5\ne.";
  const auto pickle = Pickle::parse(all);
  ASSERT_TRUE(pickle) << pickle.error().message;
  std::vector<double> numbers;
  for (const Pickle::Ref item : pickle->itemsOf(pickle->root()))
    numbers.push_back(pickle->numberOf(item));
  EXPECT_EQ(numbers, (std::vector<double>{255, 0x1234, -2, -32768, 0x1p64, 100, 42, -7, 0.5}));
  EXPECT_FALSE(Pickle::parse(std::string("\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01.", 12))) << "more than 64 bits";
}

TEST(Pickle, TextsOfPython2) {
  const auto pickle = Pickle::parse("(lS'a\\n\\x41\\\\'\naVgr\\u00f6\xdf\\U0001f600\na.");
  ASSERT_TRUE(pickle) << pickle.error().message;
  EXPECT_EQ(pickle->textOf(pickle->itemsOf(pickle->root())[0]), "a\nA\\");
  EXPECT_EQ(pickle->textOf(pickle->itemsOf(pickle->root())[1]), "größ😀");
}

} // namespace msleaks::analysis::profiles
