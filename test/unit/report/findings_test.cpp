// Tests the findings of the report, and how much memory the fix of each finding saves.
#include "report_fixture.h"

namespace msleaks::analysis {
namespace {

class Findings : public ReportTest {
protected:
  // Reports a run with these events. Site 1 is net.cpp:12. Site 2 is net.cpp:3, inlined into main. Both are in the
  // user's own code.
  void run(const std::vector<StreamEvent> &list) {
    start(1, 4711);
    events(list);
    end(1, 0, kStart + 10'000'000'000);
    manifest();
    close();
    found = asJson()["findings"];
  }
  static StreamEvent at(uint64_t ms, uint64_t address, uint64_t bytes, const Where &where) {
    return bytes == 0 ? test::free(kStart + ms * 1'000'000, address, where)
                      : test::alloc(kStart + ms * 1'000'000, address, bytes, where);
  }
  json found;
};

} // namespace

TEST_F(Findings, ALeakSavesWhatItHadAtThePeak) {
  run({at(1, 0x10, 1000, kOne), at(2, 0x20, 5000, kTwo), at(3, 0x20, 0, kTwo), at(4, 0x30, 500, kOne)});
  ASSERT_EQ(found.size(), 1u);
  const json &leak = found[0];
  EXPECT_EQ(leak["kind"], "leak");
  EXPECT_EQ(leak["confidence"], "likely");
  EXPECT_EQ(leak["bytes"], 1500);
  EXPECT_EQ(leak["count"], 2);
  EXPECT_EQ(leak["saves_bytes"], 1000) << "the second block came behind the peak";
  EXPECT_EQ(leak["saves_cumulative_bytes"], 1000);
  EXPECT_EQ(leak["site"]["line"], 12);
  EXPECT_EQ(leak["paths"][0]["bytes"], 1500);
  EXPECT_EQ(leak["owner"], "/bin/net");
  EXPECT_EQ(leak["retracted"], false);
  EXPECT_EQ(leak["evidence"]["saves_total_bytes"], 1000);
  EXPECT_EQ(leak["evidence"]["largest_bytes"], 1000);
  EXPECT_NEAR(leak["byte_seconds"], 1000 * 9.999 + 500 * 9.996, 0.01);
  EXPECT_EQ(leak["id"].get<std::string>().size(), 16u);
  EXPECT_FALSE(leak["advice"].get<std::string>().empty());
}

TEST_F(Findings, AreRankedByWhatTheyProbablySaveAndSayWhatTheySaveTogether) {
  // The peak consists of two blocks: 10 MiB, which leak, and 20 MiB of another place. After the peak, 8 MiB more leak.
  run({at(1, 0x10, 10 * kMiB, kTwo), at(2, 0x20, 20 * kMiB, kOne), at(3, 0x20, 0, kOne), at(4, 0x30, 8 * kMiB, kTwo)});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0]["kind"], "leak");
  EXPECT_EQ(found[0]["bytes"], 18 * kMiB);
  EXPECT_EQ(found[0]["saves_bytes"], 10 * kMiB);
  EXPECT_EQ(found[0]["saves_cumulative_bytes"], 10 * kMiB);
  EXPECT_EQ(found[1]["kind"], "peak");
  EXPECT_EQ(found[1]["confidence"], "hint");
  EXPECT_EQ(found[1]["site"]["line"], 12);
  EXPECT_EQ(found[1]["saves_bytes"], 12 * kMiB) << "18 MiB are left at the end; of four hints one is right";
  EXPECT_EQ(found[1]["evidence"]["peak_bytes"], 30 * kMiB);
  EXPECT_EQ(found[1]["saves_cumulative_bytes"], 30 * kMiB) << "nothing is left";
}

TEST_F(Findings, WhatIsOnlyLargeStandsBehindWhatLeaks) {
  run({at(1, 0x10, 20 * kMiB, kOne), at(2, 0x10, 0, kOne), at(3, 0x20, kMiB, kTwo)});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0]["kind"], "leak");
  EXPECT_EQ(found[0]["saves_bytes"], 0) << "it comes behind the peak";
  EXPECT_EQ(found[1]["kind"], "peak");
}

TEST_F(Findings, WhatFillsThePeakStandsBeforeALeakThatIsNextToNothing) {
  run({at(1, 0x10, 20 * kMiB, kOne), at(2, 0x10, 0, kOne), at(3, 0x20, 24, kTwo)});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0]["kind"], "peak");
  EXPECT_EQ(found[1]["kind"], "leak");
}

TEST_F(Findings, APlaceThatMakesThePeakOnTwoPathsIsOne) {
  start(1, 4711);
  abi::ImageDefinition image{};
  image.image = 3;
  const std::string defined = record(abi::DefinitionKind::Image, raw(image) + "/opt/libmine.so");
  ASSERT_TRUE(writer->definitions(1, std::as_bytes(std::span(defined))));
  const PathEntry paths[] = {
      {2, abi::kPathBegin, 3, 0x1010}, {3, abi::kPathBegin, 3, 0x2010}, {4, 2, 3, 0x9010}, {5, 3, 3, 0x9010}};
  ASSERT_TRUE(writer->paths(1, paths));
  const Where first{.flags = abi::kFromHook, .site = abi::kPathSite | 4};
  const Where second{.flags = abi::kFromHook, .site = abi::kPathSite | 5};
  events(
      {at(1, 0x10, 20 * kMiB, first), at(2, 0x10, 0, first), at(3, 0x20, 20 * kMiB, second), at(4, 0x20, 0, second)});
  end(1, 0, kStart + 10'000'000'000);
  manifest();
  close();
  found = asJson()["findings"];
  ASSERT_EQ(found.size(), 1u) << found;
  EXPECT_EQ(found[0]["kind"], "peak");
  EXPECT_EQ(found[0]["saves_bytes"], 20 * kMiB);
}

// A function allocates memory for three callers. One caller gets three quarters of the memory. So the place has one
// finding, and its callers have none.
TEST_F(Findings, APathWithThreeQuartersOfAPlaceIsTheOnlyFinding) {
  start(1, 4711);
  abi::ImageDefinition image{};
  image.image = 3;
  const std::string defined = record(abi::DefinitionKind::Image, raw(image) + "/opt/libmine.so");
  ASSERT_TRUE(writer->definitions(1, std::as_bytes(std::span(defined))));
  const PathEntry paths[] = {{2, abi::kPathBegin, 3, 0x1010},
                             {3, abi::kPathBegin, 3, 0x2010},
                             {4, abi::kPathBegin, 3, 0x3010},
                             {5, 2, 3, 0x9010},
                             {6, 3, 3, 0x9010},
                             {7, 4, 3, 0x9010}};
  ASSERT_TRUE(writer->paths(1, paths));
  const uint64_t sizes[] = {40 * kMiB, 12 * kMiB, kMiB};
  std::vector<StreamEvent> list;
  for (const uint64_t address : {0x10, 0x0})
    for (uint32_t i = 0; i < 3; ++i)
      list.push_back(at(list.size() + 1, 0x10 + i * 0x10, address == 0 ? 0 : sizes[i],
                        {.flags = abi::kFromHook, .site = abi::kPathSite | (5 + i)}));
  events(list);
  end(1, 0, kStart + 10'000'000'000);
  manifest();
  close();
  found = asJson()["findings"];
  EXPECT_EQ(found.size(), 1u) << "one way has three quarters of the bytes";
}

TEST_F(Findings, WaysOfWhichNoneIsMostAreFindings) {
  start(1, 4711);
  abi::ImageDefinition image{};
  image.image = 3;
  const std::string defined = record(abi::DefinitionKind::Image, raw(image) + "/opt/libmine.so");
  ASSERT_TRUE(writer->definitions(1, std::as_bytes(std::span(defined))));
  const PathEntry paths[] = {
      {2, abi::kPathBegin, 3, 0x1010}, {3, abi::kPathBegin, 3, 0x2010}, {4, 2, 3, 0x9010}, {5, 3, 3, 0x9010}};
  ASSERT_TRUE(writer->paths(1, paths));
  const Where first{.flags = abi::kFromHook, .site = abi::kPathSite | 4};
  const Where second{.flags = abi::kFromHook, .site = abi::kPathSite | 5};
  events(
      {at(1, 0x10, 20 * kMiB, first), at(2, 0x20, 12 * kMiB, second), at(3, 0x10, 0, first), at(4, 0x20, 0, second)});
  end(1, 0, kStart + 10'000'000'000);
  manifest();
  close();
  found = asJson()["findings"];
  ASSERT_EQ(found.size(), 2u) << found;
  EXPECT_EQ(found[0]["bytes"], 20 * kMiB);
  EXPECT_EQ(found[0]["saves_bytes"], 20 * kMiB);
  EXPECT_EQ(found[1]["bytes"], 12 * kMiB);
  EXPECT_NE(found[0]["id"], found[1]["id"]);
}

// Two lines of the user's code call a closed library. In each call, the library allocates a block that it never frees.
// Both blocks must be one finding, which comes last.
TEST_F(Findings, WhatAClosedLibraryKeepsIsOneFindingBehindAllOthers) {
  start(1, 4711);
  abi::ImageDefinition closed{}, libc{};
  closed.image = 3;
  libc.image = 4;
  const std::string image = record(abi::DefinitionKind::Image, raw(closed) + "/usr/lib/libclosed.so.1") +
                            record(abi::DefinitionKind::Image, raw(libc) + "/lib64/libc.so.6");
  ASSERT_TRUE(writer->definitions(1, std::as_bytes(std::span(image))));
  const PathEntry paths[] = {{2, abi::kPathBegin, abi::kImageOfSite, 1},
                             {3, 2, 3, 0x9010},
                             {4, abi::kPathBegin, abi::kImageOfSite, 2},
                             {5, 4, 3, 0x9010},
                             {6, 5, 4, 0xa010},  // the library calls strdup
                             {7, 4, 4, 0xa010}}; // the user's code calls strdup
  ASSERT_TRUE(writer->paths(1, paths));
  const Where one{.flags = abi::kFromHook, .site = abi::kPathSite | 3};
  const Where two{.flags = abi::kFromHook, .site = abi::kPathSite | 6};
  const Where own{.flags = abi::kFromHook, .site = abi::kPathSite | 7};
  events({at(1, 0x10, 4 * kMiB, one), at(2, 0x20, 2 * kMiB, two), at(3, 0x30, 600, kTwo), at(3, 0x40, 400, own)});
  end(1, 0, kStart + 10'000'000'000);
  manifest();
  close();
  found = asJson()["findings"];
  ASSERT_EQ(found.size(), 2u) << found;
  EXPECT_EQ(found[0]["bytes"], 1000);
  EXPECT_TRUE(found[0]["closed_library"].is_null());
  EXPECT_EQ(found[1]["kind"], "leak");
  EXPECT_EQ(found[1]["confidence"], "hint");
  EXPECT_EQ(found[1]["closed_library"], "/usr/lib/libclosed.so.1");
  EXPECT_EQ(found[1]["bytes"], 6 * kMiB);
  EXPECT_EQ(found[1]["count"], 2);
  EXPECT_EQ(found[1]["saves_bytes"], 6 * kMiB);
  EXPECT_EQ(found[1]["site"]["line"], 12) << "the place with most of it";
  EXPECT_EQ(found[1]["evidence"]["largest_bytes"], 4 * kMiB);
  EXPECT_NE(asTable(120).find("libclosed.so.1, most at "), std::string::npos) << asTable(120);
  EXPECT_TRUE(report().hasFindings());
  EXPECT_NE(asTable(120).find("leaks   1000 B in 2 blocks from 1 place; libraries keep 6.00 MiB in 2 blocks"),
            std::string::npos)
      << asTable(120);
}

// The only finding is a hint about a leak, and the other leaks have no finding. So the exit status must be that of a
// run without findings.
TEST_F(Findings, HintsAloneDoNotChangeTheExitStatus) {
  start(1, 4711, kStart, "/usr/lib/libclosed.so.1");
  const PathEntry paths[] = {{2, abi::kPathBegin, abi::kImageOfSite, 1}, {3, 2, 2, 0x9010}};
  ASSERT_TRUE(writer->paths(1, paths));
  const Where closed{.flags = abi::kFromHook, .site = abi::kPathSite | 3};
  const Where library{.flags = abi::kFromHook, .site = abi::kCallerSite};
  events({at(1, 0x10, 4 * kMiB, closed), at(2, 0x20, 100, library), at(3, 0x30, 100, {})});
  end(1, 0, kStart + 10'000'000'000);
  manifest();
  close();
  const Report all = report();
  ASSERT_EQ(all.findings.size(), 1u);
  EXPECT_EQ(all.findings[0].confidence, Confidence::Hint);
  EXPECT_EQ(all.leaks.sum.count, 3u);
  EXPECT_FALSE(all.hasFindings());
  EXPECT_NE(asTable(120).find("leaks   none; libraries keep 4.00 MiB in 3 blocks"), std::string::npos) << asTable(120);
  EXPECT_EQ(asJson()["leaks"]["found"],
            json::parse(R"({"bytes":0,"count":0,"places":0,"pool":{"bytes":0,"count":0}})"));
}

// A block may become alive again after its free: after a refused realloc, or when a mapping loses a part. The lifetime
// of the block must count only once.
TEST_F(Findings, ABlocksTimeCountsOnce) {
  Where realloc = kOne, restored = kOne, mapping = kTwo;
  realloc.flags = abi::kRealloc;
  restored.flags = abi::kRestored;
  mapping.heap = abi::Heap::Mapping;
  run({at(0, 0x10, kMiB, kOne), at(0, 0x40000000, 2 * kMiB, mapping), at(1000, 0x10, 0, realloc),
       at(1000, 0x10, kMiB, restored), test::free(kStart + 2'000'000'000, 0x40000000, mapping, kMiB),
       at(4000, 0x10, 0, kOne), test::free(kStart + 4'000'000'000, 0x40100000, mapping, kMiB)});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0]["heap"], "mapping");
  EXPECT_NEAR(found[0]["byte_seconds"], static_cast<double>(kMiB) * (2 + 4), kMiB * 0.01);
  EXPECT_NEAR(found[1]["byte_seconds"], static_cast<double>(kMiB) * 4, kMiB * 0.01);
}

TEST_F(Findings, ADevicesBlocksSaveOfThatDevicesPeak) {
  const Where first{.heap = abi::Heap::Device, .site = 1};
  const Where second{.heap = abi::Heap::Device, .site = 2, .device = 1};
  run({at(1, 0x10, 100, kOne), at(2, 0x10, 200, first), at(3, 0x10, 400, second), at(4, 0x10, 0, kOne)});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0]["site"]["line"], 3);
  EXPECT_EQ(found[0]["heap"], "device");
  EXPECT_EQ(found[0]["device"], 1);
  EXPECT_EQ(found[0]["saves_bytes"], 400);
  EXPECT_EQ(found[0]["saves_cumulative_bytes"], 400);
  EXPECT_EQ(found[1]["saves_bytes"], 200);
  EXPECT_EQ(found[1]["saves_cumulative_bytes"], 200) << "another device's peak";
}

// A block at a place outside of the user's own code is no finding. A small block is no finding, either.
TEST_F(Findings, ThereAreNoneWhereNothingIsTheUsersOwn) {
  run({at(1, 0x10, 50 * kMiB, {}), at(2, 0x20, 1000, kOne), at(3, 0x20, 0, kOne), at(4, 0x30, kMiB, {})});
  EXPECT_EQ(found, json::array());
}

TEST_F(Findings, OnePlaceThatLeaksIsNoHintAsWell) {
  run({at(1, 0x10, 10 * kMiB, kOne)});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]["kind"], "leak");
}

TEST_F(Findings, AKilledProcessLeaksNothing) {
  start(1, 4711);
  events({at(1, 0x10, 1000, kOne)});
  end(1, 9, kStart + 1'000'000'000);
  manifest();
  close();
  EXPECT_EQ(asJson()["findings"], json::array());
}

// In each process, the C++ library allocates one block of 72,704 bytes that it never frees. So one such block in a
// process is no leak, but three blocks in one process are leaks.
TEST_F(Findings, WhatALibraryMayKeepIsCountedForEachProcess) {
  constexpr uint64_t kSize = 72704;
  std::vector<StreamEvent> list;
  const auto keep = [&](uint32_t process, uint64_t address) {
    const Where where{.process = process, .flags = abi::kFromHook, .site = abi::kCallerSite};
    list.push_back(test::alloc(kStart + 100 + list.size(), address, kSize, where));
  };
  for (uint32_t process = 1; process <= 3; ++process)
    start(process, 4710 + process, kStart, "/nowhere/libstdc++.so.6");
  for (const uint64_t address : {0x100000, 0x200000, 0x300000})
    keep(1, address);
  keep(2, 0x100000);
  events(list);
  for (uint32_t process = 1; process <= 3; ++process)
    end(process, 0, kStart + 1000);
  manifest();
  close();
  const Report all = report();
  EXPECT_EQ(all.leaks.sum, (BlockSum{3 * kSize, 3}));
  EXPECT_EQ(all.suppressed.sum, (BlockSum{kSize, 1}));
}

TEST_F(Findings, SectionsAreTablesOfTheirColumns) {
  start(1, 4711);
  const Where failed{.site = 2};
  events({at(1, 0x10, 1000, kOne), at(2, 0x20, 300, kOne), at(3, 0x20, 0, kOne), at(4, 0x30, 70, kTwo),
          at(5, 0x40, 1, kTwo), at(6, 0x30, 0, kTwo), test::allocFailed(kStart + 7'000'000, 1 << 30, failed)});
  end(1, 0, kStart + 1'000'000'000);
  manifest();
  close();
  std::map<std::string, json> sections;
  const json report = asJson();
  for (const json &section : report["sections"])
    sections[section["name"]] = section;
  const json &allocations = sections["allocations"];
  expectKeys(allocations["columns"], json::parse(R"([{"name":"place","unit":"place"},{"name":"bytes","unit":"bytes"},
      {"name":"count","unit":"count"},{"name":"temporary","unit":"count"}])"));
  ASSERT_EQ(allocations["rows"].size(), 2u);
  EXPECT_EQ(allocations["rows"][0][0]["line"], 12);
  EXPECT_EQ(allocations["rows"][0][1], 1300);
  EXPECT_EQ(allocations["rows"][0][2], 2);
  EXPECT_EQ(allocations["rows"][0][3], 1) << "freed before the next one was allocated";
  EXPECT_EQ(allocations["rows"][1][3], 0);
  EXPECT_EQ(allocations["totals"], json::parse("[null,1371,4,1]"));
  EXPECT_EQ(sections["sizes"]["rows"], json::parse("[[1,1,1],[127,70,1],[511,300,1],[1023,1000,1]]"));
  EXPECT_EQ(sections["refused"]["rows"][0][1], 1);
  EXPECT_EQ(sections["refused"]["rows"][0][2], 1 << 30);
}

TEST(Sections, OfTwoProcessesAddUp) {
  const Section columns{"s",
                        "S",
                        {{"name", Unit::Text, Fold::Key},
                         {"bytes", Unit::Bytes},
                         {"largest", Unit::Bytes, Fold::Largest},
                         {"note", Unit::Text, Fold::First}},
                        {}};
  Section one = columns, other = columns;
  one.rows = {{"a", uint64_t{1}, uint64_t{5}, "x"}, {"b", uint64_t{2}, uint64_t{7}, "y"}};
  other.rows = {{"b", uint64_t{10}, uint64_t{3}, "z"}, {"c", uint64_t{4}, uint64_t{9}, "w"}};
  one += other;
  ASSERT_EQ(one.rows.size(), 3u);
  EXPECT_EQ(one.rows[1], (std::vector<Cell>{"b", uint64_t{12}, uint64_t{7}, "y"}));
  EXPECT_EQ(one.totals(), (std::vector<Cell>{{}, uint64_t{17}, uint64_t{9}, {}}));
}

} // namespace msleaks::analysis
