#include "path_formats.h"

#include "analysis/result/finding_kinds.h"

#include <nlohmann/json.hpp>

namespace msleaks::analysis {
namespace {

using nlohmann::json;

json sarifOf(const Report &report) {
  std::ostringstream out;
  std::get<std::unique_ptr<ReportExporter>>(formatOf("sarif")->make())->write(report, out);
  const json file = json::parse(out.str());
  EXPECT_EQ(file["version"], "2.1.0");
  EXPECT_EQ(file["runs"].size(), 1u);
  return file["runs"][0];
}

Finding lostBlocks() {
  const Report report = test::smallReport();
  Finding finding;
  static_cast<SiteLine &>(finding) = report.peak.by_site[0];
  setKind(finding, finding_kinds::kLeak);
  finding.id = "0123456789abcdef";
  finding.confidence = Confidence::Proved;
  finding.saves_bytes = 1524;
  finding.evidence = {{"reach", std::string("lost")}};
  finding.advice = "Free them.";
  return finding;
}

Report reportWith(std::vector<Finding> findings) {
  Report report;
  report.command = {"/bin/net"};
  report.findings = std::move(findings);
  return report;
}

// The functions of a stack or a flow.
std::vector<std::string> functionsOf(const json &steps) {
  std::vector<std::string> names;
  for (const json &step : steps)
    names.push_back(step["location"]["message"]["text"]);
  return names;
}

} // namespace

TEST(Sarif, AResultForEachFinding) {
  Finding hint = lostBlocks();
  hint.confidence = Confidence::Hint;
  Finding growth = lostBlocks();
  setKind(growth, finding_kinds::kGrowth);
  growth.confidence = Confidence::Likely;
  const json run = sarifOf(reportWith({lostBlocks(), growth, hint}));
  std::vector<std::string> rules, results, levels;
  for (const json &rule : run["tool"]["driver"]["rules"]) {
    rules.push_back(rule["id"]);
    const std::string text = rule["shortDescription"]["text"];
    EXPECT_FALSE(text.empty());
    EXPECT_EQ(text.find_first_of("[]"), std::string::npos) << text;
  }
  for (const json &result : run["results"]) {
    results.push_back(result["ruleId"]);
    levels.push_back(result["level"]);
    EXPECT_EQ(rules.at(result["ruleIndex"]), result["ruleId"]);
  }
  EXPECT_EQ(rules, (std::vector<std::string>{"leak", "growth"}));
  EXPECT_EQ(results, (std::vector<std::string>{"leak", "growth", "leak"}));
  EXPECT_EQ(levels, (std::vector<std::string>{"error", "warning", "note"}));
}

TEST(Sarif, AResultHasPlaceTextAndSaving) {
  const json result = sarifOf(reportWith({lostBlocks()}))["results"][0];
  EXPECT_EQ(result["message"]["text"], "leak: nothing points to 6 blocks (1.49 KiB) any more (proved). Saves 1.49 KiB "
                                       "of the host peak. Free them.");
  EXPECT_EQ(result["locations"], json::parse(R"json([{"physicalLocation":{"artifactLocation":{"uri":"net.cpp"},)json"
                                             R"json("region":{"startLine":7,"startColumn":3}},"logicalLocations":)json"
                                             R"json([{"fullyQualifiedName":"grow(int)","kind":"function"}]}])json"));
  EXPECT_EQ(result["partialFingerprints"]["msleaksFinding/v1"], "0123456789abcdef");
  EXPECT_EQ(result["properties"]["bytes"], 1524);
  EXPECT_EQ(result["properties"]["saves_bytes"], 1524);
  EXPECT_EQ(result["properties"]["evidence"]["reach"], "lost");
}

TEST(Sarif, StacksBeginInsideAndTheFlowOutside) {
  const json result = sarifOf(reportWith({lostBlocks()}))["results"][0];
  using Names = std::vector<std::string>;
  EXPECT_EQ(functionsOf(result["stacks"][0]["frames"]), (Names{"grow(int)", "make()", "main"}));
  EXPECT_EQ(functionsOf(result["stacks"][1]["frames"]), (Names{"grow(int)", "make()", "forward"}));
  EXPECT_EQ(functionsOf(result["codeFlows"][0]["threadFlows"][0]["locations"]), (Names{"main", "make()", "grow(int)"}));
}

TEST(Sarif, APlaceWithoutFileIsInItsLibraryOrInTheProgram) {
  Finding hook = lostBlocks();
  hook.paths.clear();
  hook.site = {};
  hook.site.library = "/lib/libx.so";
  hook.site.offset = 0x7123;
  Finding unknown = hook;
  unknown.site = {};
  const json results = sarifOf(reportWith({hook, unknown}))["results"];
  EXPECT_EQ(results[0]["locations"][0]["physicalLocation"],
            json::parse(R"({"artifactLocation":{"uri":"file:///lib/libx.so"},)"
                        R"("address":{"relativeAddress":28963,"kind":"instruction"}})"));
  EXPECT_EQ(results[1]["locations"][0]["physicalLocation"],
            json::parse(R"({"artifactLocation":{"uri":"file:///bin/net"}})"));
  EXPECT_FALSE(results[0].contains("stacks"));
}

TEST(Sarif, TheUsersOwnKindIsARule) {
  Finding own = lostBlocks();
  own.analyzer = "mine";
  own.kind = "mine/{odd}";
  const json run = sarifOf(reportWith({own}));
  EXPECT_EQ(run["tool"]["driver"]["rules"], json::parse(R"([{"id":"mine/{odd}"}])"));
  const std::string text = run["results"][0]["message"]["text"];
  EXPECT_EQ(text.find("mine/{{odd}}: "), 0u) << "a brace is doubled: " << text;
}

TEST(Sarif, NoFindingIsNoResult) {
  const json run = sarifOf(Report{});
  EXPECT_EQ(run["results"], json::array());
  EXPECT_EQ(run["tool"]["driver"]["rules"], json::array());
}

TEST(Sarif, DamageIsANotification) {
  Report report;
  report.damage = {"the trace ends early"};
  const json notes = sarifOf(report)["invocations"][0]["toolExecutionNotifications"];
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0]["message"]["text"], "the trace ends early");
}

// A path becomes a URI from which a reader gets each byte of the path.
TEST(Sarif, AnyNameIsShown) {
  for (const test::HostileName &hostile : test::kHostileNames) {
    Finding finding = lostBlocks();
    static_cast<SiteLine &>(finding) = test::reportOf(hostile).peak.by_site[0];
    const json place = sarifOf(reportWith({finding}))["results"][0]["locations"][0];
    EXPECT_EQ(place["logicalLocations"][0]["fullyQualifiedName"], hostile.written);
    std::string path;
    const std::string uri = place["physicalLocation"]["artifactLocation"]["uri"];
    for (size_t i = 0; i < uri.size(); ++i)
      if (uri[i] == '%') {
        path += static_cast<char>(std::stoi(uri.substr(i + 1, 2), nullptr, 16));
        i += 2;
      } else {
        path += uri[i];
      }
    EXPECT_EQ(path, hostile.name);
  }
}

} // namespace msleaks::analysis
