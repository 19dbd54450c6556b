#include "analysis/page/flame_tree.h"

#include <gtest/gtest.h>
#include <memory>

namespace msleaks::analysis {
namespace {

std::shared_ptr<const SiteText> call(const std::string &function, std::vector<FrameText> inlined_at = {}) {
  SiteText text;
  text.function = function;
  text.file = function + ".c";
  text.line = 7;
  text.inlined_at = std::move(inlined_at);
  return std::make_shared<const SiteText>(std::move(text));
}

PathLine path(uint64_t bytes, std::vector<std::shared_ptr<const SiteText>> from_innermost) {
  PathLine line;
  line.bytes = bytes;
  line.count = 1;
  line.calls = std::move(from_innermost);
  return line;
}

SiteLine line(std::vector<PathLine> paths, uint64_t more_bytes = 0) {
  SiteLine made;
  made.site = *paths.front().calls.front();
  for (const PathLine &one : paths)
    made.bytes += one.bytes, made.count += one.count;
  made.bytes += more_bytes;
  made.count += more_bytes == 0 ? 0 : 1;
  made.paths = std::move(paths);
  return made;
}

// Returns the tree as text, with the names of calls: "main 30(f 20 g 10)".
std::string textOf(const Json &call, const Json &frames) {
  const int number = call[0];
  std::string text =
      (number < 0 ? "-" : frames[static_cast<size_t>(number)]["text"].get<std::string>()) + " " + call[1].dump();
  std::string below;
  for (const Json &child : call[3])
    below += (below.empty() ? "" : " ") + textOf(child, frames);
  return below.empty() ? text : text + "(" + below + ")";
}

std::string textOf(const std::vector<SiteLine> &lines) {
  FrameTable frames;
  FlameTree tree(frames);
  for (const SiteLine &one : lines)
    tree.add(one);
  const Json json = tree.json();
  return textOf(json["root"], frames.frames());
}

TEST(FlameTree, PathsShareTheirOutermostCalls) {
  EXPECT_EQ(textOf({line({path(20, {call("f"), call("main")}), path(10, {call("g"), call("main")})})}),
            "- 30(main 30(f 20 g 10))");
}

TEST(FlameTree, LinesOfOnePathAreOneCall) {
  EXPECT_EQ(textOf({line({path(20, {call("f"), call("main")})}), line({path(5, {call("f"), call("main")})})}),
            "- 25(main 25(f 25))");
}

TEST(FlameTree, InlinedFunctionsAreCalls) {
  EXPECT_EQ(textOf({line({path(8, {call("inner", {{"outer", "outer.c", 3, 0}}), call("main")})})}),
            "- 8(main 8(outer 8(inner 8)))");
}

TEST(FlameTree, BlocksOfPathsThatAreLeftOutHaveTheirPlaceOnly) {
  EXPECT_EQ(textOf({line({path(8, {call("f"), call("main")})}, 4)}), "- 12(main 8(f 8) f 4)");
}

TEST(FlameTree, SmallCallsAreOne) {
  std::vector<PathLine> paths;
  paths.push_back(path(1'000'000, {call("large"), call("main")}));
  for (int i = 0; i < 3; ++i)
    paths.push_back(path(100, {call("small" + std::to_string(i)), call("main")}));
  EXPECT_EQ(textOf({line(std::move(paths))}), "- 1000300(main 1000300(large 1000000 - 300))");
}

TEST(FlameTree, OnlyCallsThatAreShownAreInTheTable) {
  FrameTable frames;
  FlameTree tree(frames);
  tree.add(line({path(1'000'000, {call("large")}), path(1, {call("small")})}));
  tree.json();
  ASSERT_EQ(frames.frames().size(), 1u);
  EXPECT_EQ(frames.frames()[0].dump(), R"({"text":"large","file":"large.c","line":7,"library":null,"python":false})");
}

} // namespace
} // namespace msleaks::analysis
