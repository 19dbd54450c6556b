#include "analysis/counts/graphs_html.h"

#include "analysis/base/page_text.h"

#include "counted.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

namespace msleaks::analysis {
namespace {

using nlohmann::json;
using test::counted;

constexpr char kHostile[] = "</script><script>alert(1)</script><!-- & \"'\n\\u003c {{graphs}} \xff";

std::string pageOf(const RunOfPage &run, const RunOfPage *against = nullptr) {
  std::ostringstream page;
  const Result<void> written = writeGraphsHtml(page, run, against);
  return written ? page.str() : std::string();
}

class GraphsHtml : public testing::Test {
protected:
  void SetUp() override {
    if (pageOf({"run", {}}).empty())
      GTEST_SKIP() << "this build has no page: npm is missing or failed";
  }
};

// Returns the text of a script as a browser parses it: up to the first end tag.
std::string scriptOf(const std::string &page, const std::string &id) {
  const std::string tag = "<script type=\"application/json\" id=\"" + id + "\">";
  const size_t begin = page.find(tag);
  if (begin == std::string::npos)
    return {};
  return page.substr(begin + tag.size(), page.find("</script>", begin) - begin - tag.size());
}

size_t countOf(const std::string &text, const std::string &word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + word.size()))
    ++count;
  return count;
}

TEST(GraphsHtmlText, TextOfAnElement) { EXPECT_EQ(escapedForHtml("a<b>&\"c\"\n"), "a&lt;b&gt;&amp;&quot;c&quot;\n"); }

TEST(GraphsHtmlText, NothingEndsAScript) {
  const std::string text = json(std::string("</script><!--")).dump();
  const std::string escaped = escapedForScript(text);
  EXPECT_EQ(escaped.find('<'), std::string::npos);
  EXPECT_EQ(json::parse(escaped), json::parse(text));
}

TEST_F(GraphsHtml, HoldsTheGraphsAsJsonHasThem) {
  const std::vector functions = {counted("f", "/nowhere/a.c", 1, {3, 4})};
  const std::string page = pageOf({"a run", functions});
  std::ostringstream array;
  writeGraphsJson(array, functions);
  EXPECT_EQ(json::parse(scriptOf(page, "graph0")), json::parse(array.str())[0]);
}

TEST_F(GraphsHtml, HottestFirst) {
  const std::vector functions = {counted("a", "", 1, {3}), counted("b", "", 2, {9}), counted("c", "", 3, {5})};
  const json contents = json::parse(scriptOf(pageOf({"a run", functions}), "contents"));
  std::vector<std::string> names;
  for (const json &row : contents["functions"])
    names.push_back(row["name"]);
  EXPECT_EQ(names, (std::vector<std::string>{"b()", "c()", "a()"}));
  EXPECT_EQ(contents["functions"][0]["instructions"], json::array({18}));
}

TEST_F(GraphsHtml, HostileNames) {
  auto function = counted(kHostile, kHostile, 1, {1, 2});
  function.name = kHostile;
  const std::vector functions = {function};
  const std::string honest = pageOf({"run", std::vector{counted("f", "x", 1, {1, 2})}});
  const std::string page = pageOf({kHostile, functions});
  EXPECT_EQ(countOf(page, "<script"), countOf(honest, "<script"));
  EXPECT_EQ(countOf(page, "</script"), countOf(honest, "</script"));
  EXPECT_EQ(countOf(page, "<!--"), countOf(honest, "<!--"));
  const json contents = json::parse(scriptOf(page, "contents")), graph = json::parse(scriptOf(page, "graph0"));
  std::string shown = kHostile; // the page shows U+FFFD for invalid UTF-8
  shown.replace(shown.find('\xff'), 1, "\xef\xbf\xbd");
  EXPECT_EQ(contents["runs"][0], shown);
  EXPECT_EQ(contents["functions"][0]["name"], shown);
  EXPECT_EQ(contents["sources"][0]["file"], shown);
  EXPECT_EQ(graph["symbol"], shown);
}

TEST_F(GraphsHtml, TwoRuns) {
  const std::vector first = {counted("f", "a", 1, {1, 2}), counted("g", "a", 1, {1})};
  const std::vector second = {counted("f", "a", 1, {5, 6}), counted("g", "a", 2, {1}), counted("h", "a", 3, {1})};
  const RunOfPage against{"two", second};
  const std::string page = pageOf({"one", first}, &against);
  const json contents = json::parse(scriptOf(page, "contents"));
  EXPECT_EQ(contents["runs"], json::array({"one", "two"}));
  std::map<std::string, json> rows;
  for (const json &row : contents["functions"])
    rows[row["name"]] = row;
  EXPECT_TRUE(rows["f()"]["matched"]);
  EXPECT_FALSE(rows["g()"]["matched"]);
  EXPECT_TRUE(rows["h()"]["graphs"][0].is_null());
  const auto graphOf = [&](const json &number) {
    return json::parse(scriptOf(page, "graph" + std::to_string(number.get<int>())));
  };
  EXPECT_EQ(graphOf(rows["f()"]["graphs"][0])["calls"], 1);
  EXPECT_EQ(graphOf(rows["f()"]["graphs"][1])["calls"], 5);
  EXPECT_EQ(graphOf(rows["h()"]["graphs"][1])["symbol"], "h");
}

TEST_F(GraphsHtml, AsksNothingOfANetwork) {
  const std::string page = pageOf({"run", std::vector{counted("f", "x", 1, {1})}});
  EXPECT_EQ(countOf(page, "https://"), 0u);
  EXPECT_EQ(countOf(page, "http://"), 1u); // the name of the XML namespace of SVG
  for (const char *word : {"src=", "url(", "@import", "fetch(", "innerHTML", "<link"})
    EXPECT_EQ(countOf(page, word), 0u) << word;
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
}

TEST_F(GraphsHtml, NothingRan) {
  const json contents = json::parse(scriptOf(pageOf({"run", {}}), "contents"));
  EXPECT_TRUE(contents["functions"].empty());
}

} // namespace
} // namespace msleaks::analysis
