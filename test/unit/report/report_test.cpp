// Tests the report of a run, as JSON and as text.
#include "report_fixture.h"

namespace msleaks::analysis {
namespace {

// Returns the path that the report shows for a place whose events have no call path: only the frames of the place
// itself.
json pathOf(const json &site, uint64_t bytes, uint64_t count) {
  json frames = json::array();
  const auto append = [&](const json &frame) {
    frames.push_back({{"function", frame["function"]},
                      {"file", frame["file"]},
                      {"line", frame["line"]},
                      {"column", frame["column"]},
                      {"library", site["library"]},
                      {"offset", nullptr},
                      {"origin", site["origin"]}});
  };
  append(site);
  for (const json &frame : site["inlined_at"])
    append(frame);
  return json::array({{{"bytes", bytes}, {"count", count}, {"complete", false}, {"frames", frames}}});
}

} // namespace

TEST_F(ReportTest, JsonIsWhatScriptsHoldOnTo) {
  start(1, 4711);
  events(smallRun(), 0, 250);
  end(1, 3 << 8, kStart + 1'000'000);
  manifest();
  close();
  const json report = asJson();

  EXPECT_EQ(report["events"], json::parse(R"({"produced":9,"stored":9,"dropped":0,"stalled_ns":250,"missing":0})"));
  EXPECT_EQ(report["cost"], json::parse(R"({"collector_cpu_ns":5000000,"events_per_s":4.5})"));
  expectKeys(report["processes"],
             json::parse(R"([{"pid":4711,"command":["/bin/net","--size","7"],"exit":3,"fate":"exited"}])"));
  const json weights = json::parse(R"json({"id":"0123456789abcdef","file":"src/net.cpp","line":12,"column":7,
      "function":"net::grow(unsigned long)","callee":"malloc","type":"float","variable":"weights","inlined_at":[],
      "origin":"pass","library":"/bin/net"})json");
  const json temporary = json::parse(R"json({"id":"0000000000000002","file":"src/net.cpp","line":3,"column":7,
      "function":"net::grow(unsigned long)","callee":"malloc","type":null,"variable":null,
      "inlined_at":[{"function":"net::make()","file":"src/net.cpp","line":40,"column":5},
                    {"function":"main","file":"src/net.cpp","line":90,"column":3}],
      "origin":"pass","library":"/bin/net"})json");

  const json of_weights = {{"callee", weights["callee"]}, {"type", weights["type"]}, {"variable", weights["variable"]}};

  const json &peak = report["peak"];
  EXPECT_EQ(peak["bytes"], 1000 + 5000 + 70 + 4096);
  EXPECT_EQ(peak["time_ns"], kStart + 400);
  EXPECT_EQ(peak["since_start_ns"], 400);
  ASSERT_EQ(peak["by_site"].size(), 3u);
  expectKeys(peak["by_site"][0], (json{{"site", weights},
                                       {"bytes", 5096},
                                       {"count", 2},
                                       {"allocator", of_weights},
                                       {"paths", pathOf(weights, 5096, 2)},
                                       {"more_paths", 0},
                                       {"child", nullptr}}));
  expectKeys(peak["by_site"][1], (json{{"site", temporary},
                                       {"bytes", 5000},
                                       {"count", 1},
                                       {"allocator", {{"callee", "malloc"}, {"type", nullptr}, {"variable", nullptr}}},
                                       {"paths", pathOf(temporary, 5000, 1)},
                                       {"more_paths", 0},
                                       {"child", nullptr}}));
  EXPECT_EQ(peak["by_site"][2]["site"]["origin"], "hook");
  EXPECT_EQ(peak["by_site"][2]["site"]["library"], "/nowhere/libx.so");
  EXPECT_EQ(peak["by_site"][2]["site"]["function"], json());
  EXPECT_EQ(peak["by_type"],
            json::parse(R"([{"type":"float","bytes":5096,"count":2},{"type":null,"bytes":5070,"count":2}])"));
  EXPECT_EQ(peak["by_owner"], json::parse(R"([{"owner":"/bin/net","bytes":10096,"count":3},
                                              {"owner":"/nowhere/libx.so","bytes":70,"count":1}])"));
  ASSERT_EQ(peak["by_heap"].size(), 2u);
  EXPECT_EQ(peak["by_heap"][0]["heap"], "host");
  EXPECT_EQ(peak["by_heap"][0]["bytes"], 6070);
  EXPECT_EQ(peak["by_heap"][0]["time_ns"], kStart + 300);
  EXPECT_EQ(peak["by_heap"][1]["bytes"], 4096);
  expectKeys(peak["by_process"], json::parse(R"([{"pid":4711,"bytes":10166,"time_ns":1000000400,"since_start_ns":400,
                             "resident_bytes":null,"highest_resident_bytes":null}])"));

  const json &leaks = report["leaks"];
  EXPECT_EQ(leaks["bytes"], 1000 + 30 + 70 + 1);
  EXPECT_EQ(leaks["count"], 4);
  ASSERT_EQ(leaks["by_site"].size(), 3u);
  const json first = {{"site", weights},          {"bytes", 1030},           {"count", 2},
                      {"heap", "host"},           {"largest_bytes", 1000},   {"oldest_age_ns", 999'900},
                      {"newest_age_ns", 999'300}, {"allocator", of_weights}, {"paths", pathOf(weights, 1030, 2)},
                      {"more_paths", 0},          {"child", nullptr}};
  expectKeys(leaks["by_site"][0], first);
  EXPECT_EQ(leaks["by_site"][2]["site"]["id"], json());
  EXPECT_EQ(leaks["suppressed"]["bytes"], 0);
  EXPECT_EQ(report["alive_at_end"]["count"], 0);
  EXPECT_EQ(report["blocks"]["unmatched_frees"], 1);
  EXPECT_EQ(report["session"]["complete"], true);
  EXPECT_EQ(report["damage"], json::array());
}

TEST_F(ReportTest, SameRunSameReport) {
  start(1, 4711);
  events(smallRun());
  end(1, 0, kStart + 1'000'000);
  manifest();
  close();
  EXPECT_EQ(asJson().dump(), asJson().dump());
}

TEST_F(ReportTest, TableFitsItsColumnsAndSaysComplete) {
  start(1, 4711);
  events(smallRun());
  end(1, 0, kStart + 1'000'000);
  manifest();
  close();
  for (const size_t columns : {60u, 80u, 120u}) {
    const std::string table = asTable(columns);
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(line.size(), columns) << line;
    EXPECT_EQ(table.find('\x1b'), std::string::npos);
  }
  const std::string table = asTable();
  EXPECT_TRUE(table.starts_with("command /bin/net --size 7\ntime    2.00 s, exit 0\n")) << table;
  const std::string peak = table.substr(table.find("peak "));
  EXPECT_EQ(peak.substr(0, peak.find('\n')),
            "peak    9.93 KiB at 400 ns after the start (highest of each heap: 5.93 KiB host,");
  EXPECT_NE(table.find("leaks   1.07 KiB in 3 blocks from 2 places; libraries keep 1 B in 1 block\n"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("events  9, complete\n"), std::string::npos) << table;
  EXPECT_NE(table.find("src/net.cpp:12:7\n"), std::string::npos) << table;
  EXPECT_NE(table.find("in net::grow(unsigned long) -> weights (float)\n"), std::string::npos) << table;
  EXPECT_NE(table.find("libx.so+0x123\n"), std::string::npos) << table;
  EXPECT_NE(asTable(80, 1).find("2 more places\n"), std::string::npos);
}

TEST_F(ReportTest, DroppedEventsAreSaidFirst) {
  start(1, 4711);
  events(smallRun(), 5);
  end(1, 0, kStart + 1'000'000);
  manifest();
  close();
  EXPECT_EQ(asJson()["events"]["dropped"], 5);
  EXPECT_EQ(asJson()["events"]["produced"], 14);
  EXPECT_EQ(asJson()["session"]["complete"], false);
  const std::string table = asTable();
  EXPECT_EQ(table.find("complete"), std::string::npos) << table;
  EXPECT_NE(table.find("5 of 14 DROPPED"), std::string::npos) << table;
  EXPECT_EQ(table.find("too low"), std::string::npos) << table; // a dropped free makes the leaks too high
}

TEST_F(ReportTest, KilledProcessHasNoLeaks) {
  start(1, 4711);
  events(smallRun());
  end(1, 9, kStart + 1'000'000); // killed by SIGKILL
  manifest();
  close();
  const json report = asJson();
  EXPECT_EQ(report["leaks"]["count"], 0);
  EXPECT_EQ(report["alive_at_end"]["bytes"], 1101);
  EXPECT_EQ(report["processes"][0]["exit"], 137);
  EXPECT_EQ(report["processes"][0]["fate"], "killed");
  EXPECT_NE(asTable().find("killed by a signal"), std::string::npos);
}

TEST_F(ReportTest, SessionThatWasCutOff) {
  start(1, 4711);
  events(smallRun());
  writer.reset(); // the file gets no end, no index and no manifest
  const json report = asJson();
  EXPECT_EQ(report["events"]["stored"], 9);
  EXPECT_EQ(report["leaks"]["count"], 0);
  EXPECT_EQ(report["alive_at_end"]["bytes"], 1101);
  EXPECT_EQ(report["processes"][0]["exit"], json());
  EXPECT_EQ(report["processes"][0]["fate"], "running");
  EXPECT_EQ(report["session"]["state"], json());
  EXPECT_EQ(report["session"]["complete"], false);
  EXPECT_NE(report["notes"].dump().find("`msleaks recover"), std::string::npos) << report["notes"];
  EXPECT_NE(asTable().find("9 stored, NOT ALL"), std::string::npos) << asTable();
}

// The collector closed the trace, but was killed before it marked the session as complete in the manifest. So the
// session must count as incomplete.
TEST_F(ReportTest, SessionWhoseManifestSaysRunningIsNotComplete) {
  start(1, 4711);
  events(smallRun());
  end(1, 0, kStart + 1'000'000);
  manifest("running");
  close();
  EXPECT_EQ(asJson()["session"]["complete"], false);
  const auto report = analyzeRun(run);
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->complete());
}

// An account is the recorded total of a stream. One stream has more events than its account, and another has fewer. The
// surplus of the first must not hide the missing events of the second.
TEST_F(ReportTest, AStreamsOldAccountDoesNotHideWhatAnotherLacks) {
  start(1, 4711);
  events(smallRun());
  ASSERT_TRUE(writer->streamAccount({1, 0, 100, "main", 2, 0, 0}));
  ASSERT_TRUE(writer->streamAccount({1, 7, 107, "gone", 5, 1, 0}));
  end(1, 0, kStart + 1'000'000);
  manifest();
  close();
  EXPECT_EQ(asJson()["events"], json::parse(R"({"produced":14,"stored":9,"dropped":1,"stalled_ns":0,"missing":4})"));
}

TEST_F(ReportTest, ExecIsNoLeakAndPeaksDoNotAddUp) {
  start(1, 50);
  start(2, 50, kStart + 1000); // another image with the same pid
  events({test::alloc(kStart + 100, 0x10, 1000, {.site = 1}),
          test::alloc(kStart + 1100, 0x10, 900, {.process = 2, .site = 1})});
  end(2, 0, kStart + 5000);
  manifest();
  close();
  const json report = asJson();
  EXPECT_EQ(report["processes"][0]["fate"], "replaced");
  EXPECT_EQ(report["processes"][1]["exit"], 0);
  EXPECT_EQ(report["leaks"]["bytes"], 900);
  EXPECT_EQ(report["peak"]["bytes"], 1000);
}

// The first process ended before the second one got its pid. So the second process is not an exec of the first one.
TEST_F(ReportTest, ProcessThatEndedBeforeItsNumberWasUsedAgainLeaks) {
  start(1, 50);
  start(2, 50, kStart + 5000);
  events({test::alloc(kStart + 100, 0x10, 1000, {.site = 1})});
  end(1, -1, kStart + 2000);
  end(2, 0, kStart + 6000);
  manifest();
  close();
  const json report = asJson();
  EXPECT_EQ(report["processes"][0]["fate"], "exited");
  EXPECT_EQ(report["processes"][0]["exit"], json());
  EXPECT_EQ(report["leaks"]["bytes"], 1000);
  EXPECT_EQ(report["leaks"]["by_site"][0]["oldest_age_ns"], 1900);
}

TEST_F(ReportTest, ProcessesShareThePeakAndTheirSites) {
  start(1, 50);
  start(2, 51);
  events({test::alloc(kStart + 100, 0x10, 1000, {.site = 1}),
          test::alloc(kStart + 200, 0x10, 900, {.process = 2, .site = 1}), test::free(kStart + 300, 0x10)});
  end(1, 0, kStart + 5000);
  end(2, -1, kStart + 5000); // this process ended in an unknown way
  manifest();
  close();
  const json report = asJson();
  EXPECT_EQ(report["peak"]["bytes"], 1900);
  ASSERT_EQ(report["peak"]["by_site"].size(), 1u);
  EXPECT_EQ(report["peak"]["by_site"][0]["count"], 2);
  EXPECT_EQ(report["peak"]["by_process"].size(), 2u);
  EXPECT_EQ(report["leaks"]["bytes"], 900);
  EXPECT_EQ(report["processes"][1]["exit"], json());
  EXPECT_NE(report["notes"].dump().find("1 process(es) ended in an unknown way"), std::string::npos);
}

TEST_F(ReportTest, PoolsAreApart) {
  start(1, 50);
  events({test::alloc(kStart + 100, 0x1000, 4096, {.site = 1}),
          test::alloc(kStart + 200, 0x1000, 64, {.heap = abi::Heap::Pool, .site = 2}),
          test::free(kStart + 300, 0x1000)});
  end(1, 0, kStart + 5000);
  manifest();
  close();
  const json report = asJson();
  EXPECT_EQ(report["peak"]["bytes"], 4096);
  EXPECT_EQ(report["leaks"]["bytes"], 0);
  EXPECT_EQ(report["leaks"]["pool"]["bytes"], 64);
  EXPECT_EQ(report["leaks"]["pool"]["by_site"].size(), 1u);
  EXPECT_TRUE(this->report().hasFindings());
}

TEST_F(ReportTest, EmptyRunIsClean) {
  manifest();
  close();
  const json report = asJson();
  EXPECT_EQ(report["peak"]["bytes"], 0);
  EXPECT_EQ(report["leaks"]["count"], 0);
  expectKeys(report["processes"], json::array());
  EXPECT_FALSE(this->report().hasFindings());
  EXPECT_NE(asTable().find("peak    nothing was allocated"), std::string::npos);
}

TEST_F(ReportTest, ShortFormHasTwelveLinesAtMost) {
  start(1, 4711);
  auto list = smallRun();
  list.push_back(test::alloc(kStart + 950, 0x70, 9, {.heap = abi::Heap::Pool, .site = 3}));
  events(list, 3);
  end(1, 0, kStart + 1'000'000);
  manifest();
  close();
  std::ostringstream out;
  const auto report = analyzeRun(run);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->peak.bytes, 10166u);
  EXPECT_EQ(report->leaks.sum, (BlockSum{1101, 4}));
  EXPECT_TRUE(report->hasFindings());
  EXPECT_FALSE(report->complete());
  printShortReport(*report, out);
  const std::string text = out.str();
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 12) << text;
}

TEST_F(ReportTest, NoRunIsOneLine) {
  const auto nothing = analyzeRun(base / "missing");
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().message.find('\n'), std::string::npos);
  EXPECT_EQ(nothing.error().status, ExitStatus::BadInput);
}

} // namespace msleaks::analysis
