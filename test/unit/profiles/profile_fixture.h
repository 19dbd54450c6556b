// Common code of the tests of profiles: reads the files of golden/, and makes the profile that LNT wrote to lnt.*.
#pragma once

#include "analysis/counts/profile.h"

#include <cstdint>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <vector>

namespace msleaks::analysis::profiles {

inline std::string goldenPath(const std::string &name) { return std::string(MSLEAKS_GOLDEN) + "/" + name; }

inline std::vector<uint8_t> golden(const std::string &name) {
  std::ifstream file(goldenPath(name), std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::vector<uint8_t> bytes(const std::string &text) { return {text.begin(), text.end()}; }

// Returns the profile that LNT wrote to golden/lnt.*. The counters of a line are sorted by name: branch-misses, cycles.
inline Profile goldenProfile() {
  Profile profile;
  profile.counters = {{"cycles", 12345}, {"branch-misses", 3'000'000'000'000}};
  profile.functions["main"] = {{{"cycles", 45}, {"branch-misses", 10.5}},
                               {{{0, 50}, 0x1000, "\tadd r0, r0, r1"}, {{0, 50}, 0x1004, "\tret"}}};
  profile.functions["größe, f(int, x<a,b>)"] = {{{"cycles", 12.25}}, {{{100}, 0x2000, "\tret"}}};
  profile.functions["empty"] = {{{"cycles", 0.125}}, {}};
  return profile;
}

inline void expectSame(const Profile &found, const Profile &wanted) {
  EXPECT_EQ(found.disassembly_format, wanted.disassembly_format);
  EXPECT_EQ(found.counters, wanted.counters);
  ASSERT_EQ(found.functions.size(), wanted.functions.size());
  for (const auto &[name, function] : wanted.functions) {
    const auto other = found.functions.find(name);
    ASSERT_NE(other, found.functions.end()) << name;
    EXPECT_EQ(other->second.counters, function.counters) << name;
    ASSERT_EQ(other->second.lines.size(), function.lines.size()) << name;
    for (size_t i = 0; i < function.lines.size(); ++i) {
      EXPECT_EQ(other->second.lines[i].shares, function.lines[i].shares) << name << ", line " << i;
      EXPECT_EQ(other->second.lines[i].address, function.lines[i].address) << name << ", line " << i;
      EXPECT_EQ(other->second.lines[i].text, function.lines[i].text) << name << ", line " << i;
    }
  }
}

// Expects a refusal. The error message must have one line and contain `what`. The reader's caller adds the file's name.
inline void expectRefused(const Result<Profile> &result, const std::string &what) {
  ASSERT_FALSE(result) << "not refused: " << what;
  EXPECT_EQ(result.error().status, ExitStatus::BadInput) << result.error().message;
  EXPECT_EQ(result.error().message.find('\n'), std::string::npos) << result.error().message;
  EXPECT_NE(result.error().message.find(what), std::string::npos) << result.error().message;
}

} // namespace msleaks::analysis::profiles
