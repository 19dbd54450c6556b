// Tests the first screen of a report: its size, and its choice of findings and places.
#include "report_fixture.h"

#include "analysis/base/text.h"

#include <gmock/gmock.h>

namespace msleaks::analysis {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr uint64_t kKiB = 1 << 10;
constexpr size_t kMostLines = 40;

SiteText placeAt(const std::string &file, uint32_t line, const std::string &function = "step") {
  SiteText site;
  site.file = file;
  site.line = line;
  site.function = function;
  site.variable = "grads";
  site.type = "std::vector<float, std::allocator<float> >";
  site.origin = SiteOrigin::Pass;
  return site;
}

SiteLine lineAt(const std::string &file, uint32_t line, uint64_t bytes) {
  SiteLine place;
  place.site = placeAt(file, line);
  place.bytes = bytes;
  place.count = 1;
  place.own = true;
  return place;
}

SiteLine libraryLine(const std::string &library, const std::string &function, uint64_t bytes) {
  SiteLine place;
  place.site.origin = SiteOrigin::Hook;
  place.site.library = library;
  place.site.function = function;
  place.bytes = bytes;
  place.count = 1;
  return place;
}

Finding findingAt(const std::string &kind, uint32_t line, uint64_t bytes, uint64_t saves_bytes) {
  Finding finding;
  static_cast<SiteLine &>(finding) = lineAt("src/train.cpp", line, bytes);
  finding.kind = kind;
  finding.confidence = Confidence::Likely;
  finding.owner = "/opt/app/train";
  finding.saves_bytes = finding.saves_cumulative_bytes = saves_bytes;
  finding.paths = {{bytes,
                    1,
                    {std::make_shared<SiteText>(placeAt("src/train.cpp", line)),
                     std::make_shared<SiteText>(placeAt("src/loop.cpp", 7, "epoch")),
                     std::make_shared<SiteText>(placeAt("src/loop.cpp", 70, "main"))},
                    true,
                    0}};
  finding.advice = "Free these blocks of `step` after their last use.";
  return finding;
}

Finding lostAt(uint32_t line, uint64_t bytes) {
  Finding leak = findingAt("leak", line, bytes, bytes);
  leak.evidence = {{"reach", std::string("lost")}};
  return leak;
}

// Returns the report of a program that ended by itself. Its peak is 100 MiB, all of it on the host.
Report reportOf(std::vector<Finding> findings = {}) {
  Report report;
  report.run = "RUN7";
  report.state = "complete";
  report.closed = true;
  report.command = {"./train", "--epochs", "3"};
  report.start_ns = 1'000'000'000;
  report.duration_ns = 15'500'000'000;
  report.events = {.produced = 2400, .stored = 2400};
  ReportProcess process;
  process.process = 1;
  process.pid = 77;
  process.command = report.command;
  process.exit = 0;
  process.fate = FreeCause::ProcessExited;
  report.processes = {process};
  report.peak.bytes = 100 * kMiB;
  report.peak.time_ns = 9'000'000'000;
  report.peak.by_heap = {{abi::Heap::Host, 100 * kMiB, 9'000'000'000, {}}};
  report.peak.by_site = {lineAt("src/train.cpp", 12, 60 * kMiB), lineAt("src/load.cpp", 40, 30 * kMiB)};
  report.findings = std::move(findings);
  return report;
}

std::string screenOf(const Report &report, const TableStyle &style = {.columns = kScreenColumns, .top = kScreenRows}) {
  std::ostringstream out;
  writeScreen(out, report, style);
  return out.str();
}

size_t lineCount(const std::string &text) { return static_cast<size_t>(std::count(text.begin(), text.end(), '\n')); }

void expectOneScreen(const Report &report, const std::string &what) {
  for (const size_t columns : {50u, 80u, 100u}) {
    const std::string text = screenOf(report, {.columns = columns, .top = kScreenRows});
    EXPECT_LE(lineCount(text), kMostLines) << what << '\n' << text;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(widthOf(line), columns) << what << ": " << line;
      EXPECT_EQ(line.find_first_of("\t\r\x1b"), std::string::npos) << what << ": " << line;
    }
  }
}

// Returns a report that gives each part of the screen its largest size.
Report fullestReport() {
  std::vector<Finding> findings;
  for (uint32_t line = 1; line <= 60; ++line) {
    Finding leak = lostAt(line, 3 * kMiB);
    leak.evidence.emplace_back("holders",
                               std::vector<std::string>{"global cache (a.c:4) → 9 × block (a.c:8) +0 .next"});
    leak.advice = "Free the blocks of `step` (`grads`) before the last pointer to them is lost, and then go on to read "
                  "about the others that only these blocks lead to.";
    findings.push_back(leak);
  }
  const Finding small = findingAt("unused", 99, kKiB, kKiB);
  findings.push_back(small);
  Report report = reportOf(findings);
  report.peak.by_heap.push_back({abi::Heap::Device, 50 * kMiB, 1, {}});
  report.peak.resident_bytes = 200 * kMiB;
  report.floor = Floor{80 * kMiB, {abi::Heap::Device, abi::Heap::Managed}, 10 * kMiB, "src/train.cpp:12"};
  report.found_leaks = {{180 * kMiB, 60}, {kMiB, 1}, 61};
  report.leaks.sum = {200 * kMiB, 99};
  report.leaks.pool_sum = {2 * kMiB, 2};
  report.alive.sum = {7 * kMiB, 3};
  report.events = {.produced = 9'999'999'999, .stored = 9'999'999'990, .dropped = 9, .stalled_ns = 7'000'000};
  report.damage = {"chunk 7 of 9 is damaged"};
  report.notes = {std::string(4096, 'n'), "another"};
  report.command.emplace_back(4096, 'c');
  for (uint32_t line = 1; line <= 1000; ++line)
    report.peak.by_site.push_back(lineAt("src/net.cpp", line, line));
  for (const char *library : {"/usr/lib/liba.so", "/usr/lib/libb.so", "/usr/lib/libc10.so"})
    report.peak.by_site.push_back(libraryLine(library, "grow", 3 * kMiB));
  report.sections.push_back({"owners",
                             "Owners",
                             {{"owner", Unit::Text, Fold::Key}, {"bytes", Unit::Bytes}},
                             {{std::string("net"), uint64_t{7}}}});
  Finding refused = findingAt("out-of-memory", 5, 50 * kMiB, 0);
  refused.concern = Concern::Refusal;
  report.findings.insert(report.findings.begin(), refused);
  return report;
}

} // namespace

TEST(Screen, IsThis) {
  Finding growth = findingAt("growth", 30, 40 * kMiB, 20 * kMiB);
  growth.count = 4000;
  growth.evidence = {{"growth_bytes_per_step", uint64_t{10 * kKiB}}};
  growth.advice = "Free in each step what `step` keeps.";
  Report report = reportOf({lostAt(12, 10 * kMiB), growth, findingAt("unused", 90, 300 * kKiB, 300 * kKiB),
                            findingAt("peak", 91, kMiB, kMiB)});
  report.findings[0].count = report.peak.by_site[0].count = 256;
  report.found_leaks = {{10 * kMiB, 256}, {}, 1};
  report.leaks.sum = {12 * kMiB, 300};
  report.peak.by_site.push_back(libraryLine("/usr/lib/libtorch_cpu.so", "c10::alloc_cpu(unsigned long)", 10 * kMiB));
  EXPECT_EQ(screenOf(report),
            "command ./train --epochs 3\n"
            "time    15.50 s, exit 0\n"
            "events  2,400, complete\n"
            "peak    100.0 MiB at 8.00 s after the start\n"
            "leaks   10.0 MiB in 256 blocks from 1 place; libraries keep 2.00 MiB in 44 blocks\n"
            "\n"
            "Findings\n"
            "1.  leak: nothing points to 256 blocks of `std::vector<float>` (10.0 MiB) any more (likely)\n"
            "    src/train.cpp:12 in step -> grads (std::vector<float>) [train]\n"
            "    < src/loop.cpp:7 in epoch < src/loop.cpp:70 in main\n"
            "    Saves 10.0 MiB of the host peak. Free these blocks of `step` after their last use.\n"
            "2.  growth: 4,000 blocks of `std::vector<float>` (40.0 MiB) stay behind, 10.0 KiB a step (likely)\n"
            "    src/train.cpp:30 in step -> grads (std::vector<float>) [train]\n"
            "    < src/loop.cpp:7 in epoch < src/loop.cpp:70 in main\n"
            "    Saves 20.0 MiB of the host peak. Free in each step what `step` keeps.\n"
            "2 smaller findings (1.29 MiB): --section findings\n"
            "\n"
            "At the peak\n"
            "    bytes    %  sum  blocks  place\n"
            " 60.0 MiB  60%  60%     256  src/train.cpp:12 in step -> grads (std::vector<float>)\n"
            " 30.0 MiB  30%  90%       1  src/load.cpp:40 in step -> grads (std::vector<float>)\n"
            " 10.0 MiB  10% 100%       1  kept by libraries: libtorch_cpu.so 10.0 MiB\n"
            "\n"
            "next    msleaks report RUN7 --section peak   all places, with their callers\n"
            "        msleaks report RUN7 --all            everything; or --section NAME\n");
}

TEST(Screen, HasFortyLinesAtMost) {
  expectOneScreen(fullestReport(), "the fullest");
  Report with_pools = fullestReport();
  with_pools.peak.by_heap.push_back({abi::Heap::Pool, with_pools.peak.bytes, 0, with_pools.peak.by_site});
  expectOneScreen(with_pools, "the fullest, with pools");
  EXPECT_THAT(screenOf(with_pools), HasSubstr("\n2.  leak: "));
  EXPECT_THAT(screenOf(with_pools), HasSubstr("\n59 more like these (177.0 MiB), "));
  expectOneScreen(Report{}, "nothing is known");
  expectOneScreen(reportOf(), "no findings");
  Report odd = fullestReport();
  const std::string name = std::string(2048, 'x') + "\n\t\x1b[2J" + std::string(2048, 'y') + "<std::allocator<int> >";
  for (Finding &finding : odd.findings) {
    finding.site.function = finding.site.file = finding.site.variable = finding.site.type = name;
    finding.owner = finding.advice = name;
    for (auto &call : finding.paths[0].calls)
      call = std::make_shared<SiteText>(placeAt(name, 1, name));
    finding.evidence.emplace_back("holders", std::vector<std::string>{name + " → " + name});
  }
  for (SiteLine &line : odd.peak.by_site)
    line.site.function = line.site.library = line.child = name;
  odd.run = odd.state = name;
  odd.command = {name, name};
  odd.damage = odd.notes = {name};
  expectOneScreen(odd, "odd names");
}

TEST(Screen, ShowsFiveFindingsAndTheSumOfTheRest) {
  Report report = fullestReport();
  const std::string text = screenOf(report);
  EXPECT_THAT(text, HasSubstr("\n5.  leak: "));
  EXPECT_THAT(text, Not(HasSubstr("\n6.  ")));
  EXPECT_THAT(text, HasSubstr("\n56 more like these (168.0 MiB), 1 smaller finding (1.00 KiB): --section findings\n"));
  EXPECT_THAT(text, HasSubstr("next    msleaks oom RUN7 "));
  EXPECT_THAT(text, HasSubstr("msleaks report RUN7 --section owners "));
  const std::string more = screenOf(report, {.columns = kScreenColumns, .top = 20});
  EXPECT_THAT(more, HasSubstr("\n20. leak: ")) << "--top asks for them";
  const std::string none = screenOf(report, {.columns = kScreenColumns, .top = 0});
  EXPECT_THAT(none, HasSubstr("\n61 that matter (180.0 MiB), 1 smaller finding (1.00 KiB): --section findings\n"));
  const std::vector<Finding> hints(999, findingAt("unused", 1, 1, 1));
  report.findings.insert(report.findings.begin(), hints.begin(), hints.end());
  EXPECT_THAT(screenOf(report), HasSubstr("\n1001. leak: ")) << "the number by which the other verbs know it";
}

// docs/report.md lists the findings that matter. The screen leaves out all others.
TEST(Screen, LeavesOutWhatIsSmall) {
  const Finding big = findingAt("unused", 1, 5 * kMiB, 5 * kMiB), growing = findingAt("growth", 3, 1, 0);
  const Finding leak = lostAt(5, 1);
  Finding small = findingAt("unused", 2, 4 * kMiB, 4 * kMiB), trampled = findingAt("trampled", 4, 1, 0);
  trampled.concern = Concern::Content;
  trampled.confidence = Confidence::Hint;
  Finding churn = findingAt("churn", 6, 50 * kMiB, 0), file = findingAt("handles", 7, 0, 0);
  churn.concern = Concern::Time;
  file.concern = Concern::Handles;
  Finding device = findingAt("late-free", 8, kMiB, kMiB);
  device.heap = abi::Heap::Device;
  const auto shows = [](const Finding &finding) {
    Report report = reportOf({finding});
    report.peak.by_heap.push_back({abi::Heap::Device, 10 * kMiB, 1, {}});
    return screenOf(report).find("\n1.  " + finding.kind) != std::string::npos;
  };
  EXPECT_TRUE(shows(big)) << "a twentieth of the peak";
  EXPECT_FALSE(shows(small));
  EXPECT_TRUE(shows(growing) && shows(trampled) && shows(leak));
  EXPECT_FALSE(shows(churn) || shows(file));
  EXPECT_TRUE(shows(device)) << "a twentieth of the peak of its own heap";
  const auto showsBeside = [&](uint8_t number) {
    device.device = number;
    Report report = reportOf({device});
    report.peak.by_heap.push_back({abi::Heap::Device, 800 * kMiB, 1, {}, {{0, 10 * kMiB, 1}, {1, 790 * kMiB, 1}}});
    return screenOf(report).find("\n1.  late-free") != std::string::npos;
  };
  EXPECT_TRUE(showsBeside(0)) << "a twentieth of the peak of its own device";
  EXPECT_FALSE(showsBeside(1));
  file.evidence = {{"keeps_bytes", uint64_t{4096}}};
  EXPECT_TRUE(shows(file)) << "the leak of a FILE counts for the exit status";
  small.analyzer = "mine";
  EXPECT_TRUE(shows(small)) << "the user named this analyzer";
  EXPECT_THAT(screenOf(reportOf({big, churn, findingAt("idle", 2, kMiB, kMiB)})),
              HasSubstr("\n2 smaller findings (1.00 MiB): --section findings\n"));
}

TEST(Screen, WithMinTheUserSaysWhatIsSmall) {
  const Report report = reportOf({findingAt("unused", 1, 2 * kMiB, 2 * kMiB), findingAt("unused", 2, kKiB, kKiB)});
  EXPECT_THAT(screenOf(report), HasSubstr("none that matters; 2 smaller findings"));
  const std::string text = screenOf(report, {.columns = 100, .top = 5, .least_bytes = kMiB});
  EXPECT_THAT(text, HasSubstr("\n1.  unused: "));
  EXPECT_THAT(text, Not(HasSubstr("smaller")));
}

TEST(Screen, BlocksOfClosedLibrariesAreOneLine) {
  Finding keeps = findingAt("leak", 1, 50 * kMiB, 50 * kMiB);
  keeps.closed_library = "/usr/lib/libpocl.so";
  keeps.confidence = Confidence::Hint;
  Report report = reportOf({keeps});
  // The program called the library, which allocated blocks for itself.
  SiteText inside;
  inside.origin = SiteOrigin::Hook;
  inside.library = "/usr/lib/libpocl.so";
  SiteLine &line = report.peak.by_site[0];
  line.count = 2;
  line.paths = {{40 * kMiB, 1, {std::make_shared<SiteText>(inside), std::make_shared<SiteText>(line.site)}, true, 0},
                {20 * kMiB, 1, {std::make_shared<SiteText>(line.site)}, true, 0}};
  report.peak.by_site.push_back(libraryLine("/usr/lib/libLLVM.so", "grow", 10 * kMiB));
  std::string text = screenOf(report);
  EXPECT_THAT(text, HasSubstr("\nnone: no leak"));
  EXPECT_THAT(text, HasSubstr("\n 30.0 MiB  30%  30%       1  src/load.cpp:40"));
  EXPECT_THAT(text, HasSubstr("\n 20.0 MiB  20%  50%       1  src/train.cpp:12"));
  EXPECT_THAT(
      text, HasSubstr("\n 50.0 MiB  50% 100%       2  kept by libraries: libpocl.so 40.0 MiB, libLLVM.so 10.0 MiB\n"));
  report.findings[0].evidence = {{kGrowthEvidence, uint64_t{7}}};
  EXPECT_THAT(screenOf(report), HasSubstr("\n1.  leak: `libpocl.so` still has")) << "its blocks grow";
  report.peak.by_site = {libraryLine("/usr/lib/libtorch_cpu.so", "c10::alloc_cpu(unsigned long)", 80 * kMiB),
                         libraryLine("/usr/lib/libtorch_cpu.so", "", kMiB),
                         libraryLine("/usr/bin/python3", "", 19 * kMiB)};
  text = screenOf(report);
  EXPECT_THAT(text, HasSubstr("libtorch_cpu.so: 2 places, most in c10::alloc_cpu(unsigned long)\n"))
      << "no place is the program's own";
  EXPECT_THAT(text, HasSubstr("  python3\n"));
}

TEST(Screen, TheFragmentationOfALibrarysPoolIsAFinding) {
  Finding pinned = findingAt("fragmentation", 1, 50 * kMiB, 50 * kMiB);
  pinned.closed_library = "/usr/lib/python3/site-packages/torch/lib/libc10_cuda.so";
  pinned.confidence = Confidence::Hint;
  EXPECT_THAT(screenOf(reportOf({pinned})), HasSubstr("\n1.  fragmentation: "));
}

TEST(Screen, ShowsTheFiveLargestPlaces) {
  Report report = reportOf();
  for (uint32_t line = 1; line <= 1000; ++line)
    report.peak.by_site.push_back(lineAt("src/net.cpp", line, uint64_t{line} * 1000));
  SiteLine child = lineAt("worker.cpp", 3, 25 * kMiB);
  child.child = "worker";
  report.peak.by_site.push_back(child);
  const std::string text = screenOf(report);
  for (const char *place :
       {"src/train.cpp:12 ", "src/load.cpp:40 ", "child process worker", "src/net.cpp:1000 ", "src/net.cpp:999 "})
    EXPECT_THAT(text, HasSubstr(place));
  EXPECT_THAT(text, Not(HasSubstr("src/net.cpp:998 ")));
  EXPECT_THAT(text, HasSubstr("  998 more places\n"));
}

TEST(Screen, ShowsTheThreeLargestPlacesOfPools) {
  Report report = reportOf();
  std::vector<SiteLine> parts;
  for (uint32_t line = 1; line <= 5; ++line)
    parts.push_back(lineAt("src/model.cpp", line, uint64_t{6 - line} * kMiB));
  report.peak.by_heap.push_back({abi::Heap::Pool, 15 * kMiB, 0, parts});
  const std::string text = screenOf(report);
  EXPECT_THAT(text, HasSubstr("\nIn pools, at their own peak\n"
                              "    bytes    %  sum  blocks  place\n"
                              " 5.00 MiB  33%  33%       1  src/model.cpp:1 in step -> grads (std::vector<float>)\n"));
  EXPECT_THAT(text, HasSubstr(" src/model.cpp:3 in step "));
  EXPECT_THAT(text, Not(HasSubstr(" src/model.cpp:4 in step ")));
  EXPECT_THAT(text, HasSubstr(" 3.00 MiB  20% 100%       2  2 more places"));
  report.peak.by_heap.back().bytes = report.peak.bytes / 21;
  EXPECT_THAT(screenOf(report), Not(HasSubstr("In pools")));
}

TEST(Screen, TellsTheKindsOfTensors) {
  Report report = reportOf();
  Section kinds{.name = "tensor_kinds", .title = "", .columns = {}, .rows = {}};
  kinds.rows = {{std::string("activations"), 3 * kMiB, uint64_t{5}, uint64_t{0}, uint64_t{0}},
                {std::string("parameters"), 4 * kMiB, uint64_t{2}, uint64_t{0}, uint64_t{0}}};
  report.sections = {kinds};
  EXPECT_THAT(screenOf(report), HasSubstr("\ntensors parameters 4.00 MiB; activations 3.00 MiB\n"));
  report.sections[0].rows[0][3] = 2 * kMiB;
  EXPECT_THAT(screenOf(report), HasSubstr("\ntensors in pools: activations 2.00 MiB\n"));
}

TEST(Screen, TellsHowAKilledRunEndedAndWhatIsIncomplete) {
  Report report = reportOf();
  report.processes[0].fate = FreeCause::ProcessKilled;
  report.processes[0].exit = 137;
  report.alive.sum = {90 * kMiB, 3};
  report.alive.by_site.resize(2);
  std::string text = screenOf(report);
  EXPECT_THAT(text, HasSubstr("time    15.50 s, killed by signal 9\n"));
  EXPECT_THAT(text, HasSubstr("alive   90.0 MiB in 3 blocks from 2 places\n"));
  report.command.clear(); // as if the run had no manifest
  report.duration_ns = 0;
  report.closed = false;
  report.notes = {"manifest.json cannot be read", "another note"};
  text = screenOf(report);
  EXPECT_THAT(text, HasSubstr("command ./train --epochs 3\ntime    killed by signal 9\nevents  2,400 stored, NOT ALL"));
  EXPECT_THAT(text, HasSubstr("note    2, --section notes has them: manifest.json cannot be read\n"));
}

TEST(Screen, OptionsImplyTheTablesThatTheyAreAbout) {
  Report report = reportOf();
  LeakLine leak;
  static_cast<SiteLine &>(leak) = lineAt("src/leak.cpp", 3, kMiB);
  leak.remains.oldest_age_ns = 5'000'000'000;
  report.leaks = {{kMiB, 1}, {leak}, {}, {}};
  EXPECT_THAT(screenOf(report), Not(HasSubstr("src/leak.cpp:3")));
  EXPECT_THAT(screenOf(report, {.columns = 100, .top = 5, .sort = "age"}), HasSubstr("src/leak.cpp:3"));
  EXPECT_THAT(screenOf(report, {.columns = 100, .top = 5, .shown = {"bytes", "oldest"}}),
              HasSubstr("5.00 s  src/leak.cpp:3"));
  const Section mine{
      .name = "mine/rows", .title = "My rows", .columns = {{"rows", Unit::Count}}, .rows = {{uint64_t{7}}}};
  report.sections = {mine};
  EXPECT_THAT(screenOf(report), Not(HasSubstr("My rows")));
  report.sections[0].is_users_own = true;
  EXPECT_THAT(screenOf(report), HasSubstr("My rows"));
  const Section groups{.name = "peak_by_type",
                       .title = "At the peak, by type",
                       .columns = {{"type", Unit::Text, Fold::Key}, {"bytes", Unit::Bytes}, {"count", Unit::Count}},
                       .rows = {{std::string("float"), uint64_t{kMiB}, uint64_t{3}}},
                       .is_grouping = true};
  report.sections = {groups};
  const std::string text = screenOf(report);
  EXPECT_THAT(text, HasSubstr("At the peak, by type\n"));
  EXPECT_THAT(text, Not(HasSubstr("src/train.cpp:12")));
}

TEST(Screen, CommandsCanBeTyped) {
  Report report = reportOf();
  report.run = "runs/a run";
  EXPECT_THAT(screenOf(report), HasSubstr("msleaks report 'runs/a run' --all"));
  for (const std::string &odd : {std::string("a\nb"), std::string("it's"), std::string(4096, 'r'), std::string()}) {
    report.run = odd;
    EXPECT_THAT(screenOf(report), HasSubstr("msleaks report RUN --all")) << odd;
  }
}

// The short report at the end of msleaks-run must have the same lines as the first screen.
TEST(Screen, AgreesWithTheShortReport) {
  const Report report = fullestReport();
  std::ostringstream out;
  printShortReport(report, out);
  EXPECT_LE(lineCount(out.str()), 12u) << out.str();
  const std::string wide = screenOf(report, {.columns = 10'000, .top = kScreenRows});
  std::istringstream lines(out.str());
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("peak ") || line.starts_with("leaks ") || line.starts_with("alive ") ||
        line.starts_with("events ")) {
      EXPECT_THAT(wide, HasSubstr(line + "\n"));
    }
  }
}

TEST(NamedParts, AreThoseOfTheReport) {
  Report report = fullestReport();
  const auto partsOf = [&](const std::vector<std::string> &names) {
    std::ostringstream out;
    const auto written = writeParts(out, report, {.columns = 100}, names);
    return written ? out.str() : "refused: " + written.error().message;
  };
  EXPECT_THAT(partsOf({"owners"}), testing::StartsWith("Owners\n"));
  EXPECT_THAT(partsOf({"findings"}), testing::StartsWith("Findings (10 of 62; all: --json)\n"));
  EXPECT_THAT(partsOf({"handles"}), "handles: none\n");
  const std::string two = partsOf({"peak", "notes"});
  EXPECT_LT(two.find("At the peak"), two.find("another")) << "in the order of the names";
  EXPECT_EQ(
      partsOf({"peak", "nothing"}),
      "refused: this report has no section 'nothing'; it has: session, notes, findings, peak, ledger, leaks, alive, "
      "unsure, handles, owners");
  std::ostringstream out;
  const auto refused = writeParts(out, report, {}, {"peak", "nothing"});
  EXPECT_EQ(refused.error().status, ExitStatus::Usage);
  EXPECT_EQ(out.str(), "") << "nothing is printed beside the message";
}

} // namespace msleaks::analysis
