#include "analysis/page/page_data.h"
#include "analysis/page/report_page.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

namespace msleaks::analysis {
namespace {

constexpr char kHostile[] = "</script><script>alert(1)</script><!-- & \"'\n\\u003c {{data}} {{title}} \xff";

Report hostileReport() {
  Report report;
  report.command = {"./program", kHostile};
  report.notes = {kHostile};
  report.peak.by_owner = {{kHostile, 8, 1}};
  Finding &finding = report.findings.emplace_back();
  finding.kind = "leak";
  finding.site.function = finding.site.file = kHostile;
  finding.advice = kHostile;
  finding.evidence = {{"holders", std::string(kHostile)}};
  return report;
}

size_t countOf(const std::string &text, const std::string &word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + word.size()))
    ++count;
  return count;
}

std::string pageOf(const Report &report) {
  std::ostringstream page;
  const Result<void> written = writeReportPage(page, {report});
  return written ? page.str() : std::string();
}

TEST(ReportPage, NamesCannotEndAScript) {
  const std::string page = pageOf(hostileReport());
  if (page.empty())
    GTEST_SKIP() << "this build has no page: npm is missing or failed";
  EXPECT_EQ(countOf(page, "</script>"), 2u); // of the data, and of the bundle
  EXPECT_EQ(countOf(page, "alert(1)</script>"), 0u);
  EXPECT_EQ(countOf(page, "<!-- &"), 0u);
}

TEST(ReportPage, DataAreTheReports) {
  const std::string page = pageOf(hostileReport());
  if (page.empty())
    GTEST_SKIP() << "this build has no page: npm is missing or failed";
  const std::string tag = "<script type=\"application/json\" id=\"data\">";
  const size_t begin = page.find(tag) + tag.size();
  const Json data = Json::parse(page.substr(begin, page.find("</script>", begin) - begin))["runs"][0];
  const std::string shown = Json(kHostile).dump(-1, ' ', false, Json::error_handler_t::replace);
  EXPECT_EQ(data["notes"].dump(), "[" + shown + "]");
  EXPECT_EQ(data["owners"][0]["name"].dump(), shown);
  EXPECT_EQ(data["findings"][0]["advice"].dump(), shown);
  EXPECT_EQ(data["findings"][0]["evidence"]["holders"].dump(), shown);
}

TEST(ReportPage, AnEmptyReportHasAPage) {
  const Json data = pageData({}, {});
  EXPECT_EQ(data["findings"].size(), 0u);
  EXPECT_EQ(data["flames"]["peak"]["bytes"], 0);
  EXPECT_TRUE(data["series"].is_null());
  EXPECT_TRUE(data["floor_bytes"].is_null());
}

} // namespace
} // namespace msleaks::analysis
