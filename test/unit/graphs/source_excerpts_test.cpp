#include "analysis/places/source_excerpts.h"

#include <chrono>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace msleaks::analysis {
namespace {

namespace fs = std::filesystem;

class SourceExcerpts : public testing::Test {
protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  std::string write(const std::string &name, const std::string &text) {
    const fs::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }
  std::string writeLines(int count) {
    std::string text;
    for (int i = 1; i <= count; ++i)
      text += fmt::format("line {}\n", i);
    return write("long.cpp", text);
  }
  fs::path folder_ = fs::temp_directory_path() / fmt::format("msleaks-excerpts-{}", getpid());
};

TEST_F(SourceExcerpts, LinesAroundOne) {
  const auto excerpt = excerptsOf({{writeLines(100), {50}}})[0];
  ASSERT_EQ(excerpt.parts.size(), 1u);
  EXPECT_EQ(excerpt.parts[0].first, 44u);
  EXPECT_EQ(excerpt.parts[0].lines.front(), "line 44");
  EXPECT_EQ(excerpt.parts[0].lines.back(), "line 60");
  EXPECT_EQ(excerpt.missing, "");
}

TEST_F(SourceExcerpts, NearLinesAreOnePart) {
  const auto excerpt = excerptsOf({{writeLines(1000), {1, 50, 900}}})[0];
  ASSERT_EQ(excerpt.parts.size(), 2u);
  EXPECT_EQ(excerpt.parts[0].first, 1u);
  EXPECT_EQ(excerpt.parts[0].lines.size(), 60u);
  EXPECT_EQ(excerpt.parts[1].first, 894u);
}

TEST_F(SourceExcerpts, EndOfTheFile) {
  const auto excerpt = excerptsOf({{write("end.c", "a\r\nb"), {2, UINT32_MAX}}})[0];
  ASSERT_EQ(excerpt.parts.size(), 1u);
  EXPECT_EQ(excerpt.parts[0].lines, (std::vector<std::string>{"a", "b"}));
}

TEST_F(SourceExcerpts, AFileThatIsTooShortIsAnother) {
  const auto excerpt = excerptsOf({{write("short.c", "a\n"), {500}}})[0];
  EXPECT_TRUE(excerpt.parts.empty());
  EXPECT_NE(excerpt.missing.find("ends before line 500"), std::string::npos) << excerpt.missing;
}

// File names are untrusted. The reader must neither wait for a FIFO nor read an endless file.
TEST_F(SourceExcerpts, WhatIsNoFile) {
  const std::string fifo = (folder_ / "fifo").string();
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  for (const auto &name : {fifo, folder_.string(), std::string("/dev/zero"), std::string("/nowhere/x.c"),
                           std::string("\n<&\""), std::string("a\0b", 3)}) {
    const auto excerpt = excerptsOf({{name, {1}}})[0];
    EXPECT_TRUE(excerpt.parts.empty()) << name;
    EXPECT_NE(excerpt.missing, "") << name;
  }
}

TEST_F(SourceExcerpts, ALongLineIsCut) {
  const auto excerpt = excerptsOf({{write("wide.c", std::string(100'000, 'x')), {1}}})[0];
  EXPECT_LT(excerpt.parts[0].lines[0].size(), 3000u);
}

TEST_F(SourceExcerpts, ChangedSince) {
  const std::string file = writeLines(10);
  const auto now = fs::last_write_time(file);
  EXPECT_FALSE(excerptsOf({{file, {1}}})[0].is_changed);
  EXPECT_FALSE(excerptsOf({{file, {1}}}, now)[0].is_changed);
  EXPECT_TRUE(excerptsOf({{file, {1}}}, now - std::chrono::seconds(1))[0].is_changed);
}

} // namespace
} // namespace msleaks::analysis
