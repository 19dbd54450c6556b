#include "counted.h"

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <unistd.h>

namespace msleaks::analysis {
namespace {

using test::counted;

// Returns the DOT text of graphs whose names are difficult for a DOT parser. Some edges have an estimated count, no
// count, or the largest possible count.
std::string dotOfAll() {
  auto hostile = counted("f\"\\\n<&{}|;//", "/a \"b\\|c.c", 1, {1, 2, 3});
  hostile.name = "f\"\\\n<&{}|;//\\";
  hostile.counts.edges[0] = {CountState::Estimated, 5};
  hostile.counts.edges[1] = {};
  hostile.counts.blocks[2].reset();
  hostile.graph.edges.push_back({.from = 2, .to = 1, .kind = abi::EdgeKind::Branch});
  hostile.counts.edges.push_back({CountState::Measured, UINT64_MAX});
  std::ostringstream to;
  writeGraphsDot(to, std::vector{hostile, counted("g", "", 2, {1})});
  return to.str();
}

// Checks a part of DOT's grammar: each string ends, only certain characters occur outside strings, and brackets match.
TEST(GraphsDot, StringsAndBracketsEnd) {
  std::string open;
  bool in_string = false;
  const std::string text = dotOfAll();
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
      EXPECT_NE(c, '\n');
      continue;
    }
    if (c == '"')
      in_string = true;
    else if (c == '{' || c == '[')
      open += c;
    else if (c == '}' || c == ']') {
      ASSERT_FALSE(open.empty());
      EXPECT_EQ(open.back(), c == '}' ? '{' : '[');
      open.pop_back();
    } else
      EXPECT_TRUE(std::isalnum(static_cast<unsigned char>(c)) || std::strchr(" \n=;.>-", c)) << c;
  }
  EXPECT_FALSE(in_string);
  EXPECT_EQ(open, "");
}

TEST(GraphsDot, GraphvizReadsIt) {
  if (std::system("command -v dot >/dev/null") != 0)
    GTEST_SKIP() << "no dot on this machine";
  const auto file = std::filesystem::temp_directory_path() / fmt::format("msleaks-{}.dot", getpid());
  std::ofstream(file) << dotOfAll();
  const std::string command = fmt::format("dot -Tplain '{0}' >'{0}.plain' 2>'{0}.errors'", file.string());
  EXPECT_EQ(std::system(command.c_str()), 0);
  std::stringstream plain, errors;
  plain << std::ifstream(file.string() + ".plain").rdbuf();
  errors << std::ifstream(file.string() + ".errors").rdbuf();
  EXPECT_EQ(errors.str(), "");
  EXPECT_NE(plain.str().find("edge b2 b1"), std::string::npos);
  EXPECT_NE(plain.str().find("dotted red"), std::string::npos);
  EXPECT_NE(plain.str().find("dashed"), std::string::npos);
  for (const char *suffix : {"", ".plain", ".errors"})
    std::filesystem::remove(file.string() + suffix);
}

} // namespace
} // namespace msleaks::analysis
