// Tests the blocks of a line by path, and the names of calls.
#include "analysis/text/paths.h"

#include <gtest/gtest.h>

namespace msleaks::analysis {
namespace {

std::shared_ptr<const SiteText> call(const char *function) {
  SiteText site;
  site.function = function;
  return std::make_shared<SiteText>(site);
}

} // namespace

TEST(Paths, BlocksOfPathsThatAreLeftOutHaveTheLinesPlace) {
  SiteLine line;
  line.site.function = "place";
  line.bytes = 100;
  line.count = 10;
  line.paths = {{60, 3, {call("f"), call("main")}, true, 1}, {10, 1, {}, false, 2}};
  line.more_paths = 2;
  const std::vector<PathBlocks> list = blocksByPath(line);
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0].calls, (std::vector{line.paths[0].calls[0].get(), line.paths[0].calls[1].get()}));
  EXPECT_EQ(list[1].calls, std::vector<const SiteText *>{&line.site}) << "a path without calls";
  EXPECT_EQ(list[2].calls, std::vector<const SiteText *>{&line.site});
  EXPECT_EQ((std::vector{list[0].bytes, list[1].bytes, list[2].bytes}), (std::vector<uint64_t>{60, 10, 30}));
  EXPECT_EQ((std::vector{list[0].count, list[1].count, list[2].count}), (std::vector<uint64_t>{3, 1, 6}));
}

TEST(Paths, NothingIsLeftOfALineWhosePathsHaveAllBlocks) {
  SiteLine line;
  line.bytes = 60;
  line.count = 3;
  line.paths = {{60, 3, {call("f")}, true, 1}};
  EXPECT_EQ(blocksByPath(line).size(), 1u);
}

TEST(Paths, BlocksWithoutBytesCount) {
  SiteLine line;
  line.count = 2;
  ASSERT_EQ(blocksByPath(line).size(), 1u);
  EXPECT_EQ(blocksByPath(line)[0].count, 2u);
}

TEST(Paths, ACallWithoutFunctionHasItsPlaceAsName) {
  SiteText site;
  EXPECT_EQ(functionOf(site, site), "(unknown place)");
  site.library = "/opt/libnet.so";
  EXPECT_EQ(functionOf(site, site), "libnet.so");
  site.offset = 0x1f;
  EXPECT_EQ(functionOf(site, site), "libnet.so+0x1f");
  site.file = "net.cpp";
  site.line = 7;
  EXPECT_EQ(functionOf(site, site), "net.cpp:7");
  EXPECT_EQ(functionOf(site, {"inlined", "", 0, 0}), "inlined");
  site.function = "grow";
  EXPECT_EQ(functionOf(site, site), "grow");
}

} // namespace msleaks::analysis
