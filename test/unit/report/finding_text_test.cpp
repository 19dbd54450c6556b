// Tests that the text of a finding names the program's own code, in any width of the terminal.
#include "analysis/result/finding_kinds.h"
#include "analysis/result/report.h"
#include "analysis/text/report_text.h"

#include <gtest/gtest.h>
#include <sstream>

namespace msleaks::analysis {
namespace {

std::shared_ptr<SiteText> inCache(const std::string &function, uint32_t line) {
  auto text = std::make_shared<SiteText>();
  text->function = function;
  text->file = "cache.c";
  text->line = line;
  text->origin = SiteOrigin::Pass;
  return text;
}

Finding findingOf(const std::string &kind) {
  Finding finding;
  finding.kind = kind;
  finding.confidence = Confidence::Likely;
  finding.own = true;
  finding.site = *inCache("remember", 8);
  finding.site.type = "struct node";
  finding.bytes = 10 << 20;
  finding.count = 10'000;
  finding.saves_bytes = finding.saves_cumulative_bytes = 10 << 20;
  finding.paths = {{finding.bytes,
                    finding.count,
                    {inCache("remember", 8), inCache("answer", 20), inCache("serve", 30), inCache("main", 40)},
                    true,
                    0}};
  finding.advice = "Do this.";
  return finding;
}

std::string textOf(const std::vector<Finding> &findings, size_t columns = 80) {
  Report report;
  report.findings = findings;
  std::ostringstream out;
  writeReportTable(out, report, {.columns = columns, .top = 10, .color = false});
  const std::string text = out.str();
  const size_t begin = text.find("Findings\n");
  return begin == std::string::npos ? "" : text.substr(begin);
}

std::string titleOf(const Finding &finding) {
  const std::string text = textOf({finding}, 400);
  const size_t begin = text.find("1.  ") + 4;
  return text.substr(begin, text.find('\n', begin) - begin);
}

void expectIn(const std::string &text, const std::string &part) {
  EXPECT_NE(text.find(part), std::string::npos) << "not there: " << part << "\n" << text;
}

} // namespace

// A kind without a sentence of its own would get the same title as an unknown kind.
TEST(FindingText, EachKindHasASentence) {
  const std::string unknown = titleOf(findingOf("unknown"));
  for (const FindingKind &kind : kFindingKinds) {
    Finding finding = findingOf("");
    setKind(finding, kind);
    const std::string title = titleOf(finding);
    EXPECT_TRUE(title.starts_with(kind.name)) << title;
    EXPECT_NE(title.substr(std::string(kind.name).size()), unknown.substr(std::string("unknown").size())) << kind.name;
  }
}

TEST(FindingText, NamesTheProgramsOwnThings) {
  Finding leak = findingOf("leak");
  leak.evidence = {
      {"reach", std::string("held")},
      {"holders", std::vector<std::string>{"global cache (cache.c:4) → 9,999 × struct node (cache.c:8) +0 .next"}}};
  EXPECT_EQ(
      textOf({leak}, 400),
      "Findings\n"
      "1.  leak: 10,000 blocks of `struct node` (10.0 MiB) are still held by `cache` (cache.c:4) at exit (likely)\n"
      "    cache.c:8 in remember (struct node)\n"
      "    < cache.c:20 in answer < cache.c:30 in serve < cache.c:40 in main\n"
      "    held by global cache (cache.c:4) → 9,999 × struct node (cache.c:8) +0 .next\n"
      "    Saves 10.0 MiB of the host peak. Do this.\n");
}

// The mistake is often in a caller of the allocating function. So the text must show all callers.
TEST(FindingText, HasAllCallersInAnyWidth) {
  Finding leak = findingOf("leak");
  std::vector<std::shared_ptr<const SiteText>> calls{inCache("remember", 8)};
  leak.owner = "/opt/a/long/way/to/a-program-with-a-long-name";
  for (uint32_t i = 0; i < 3; ++i)
    calls.push_back(inCache("engine::tokenizer::Lattice<std::vector<float, std::allocator<float> > >::insert_" +
                                std::to_string(i) + "(unsigned long)",
                            20 + i));
  leak.paths[0].calls = calls;
  for (const size_t columns : {50u, 60u, 80u, 100u, 120u, 160u}) {
    const std::string text = textOf({leak}, columns);
    for (const char *part : {"cache.c:8 in remember", "(struct node)", "[a-program-with-a-long-name]", "< cache.c:20",
                             "< cache.c:21", "< cache.c:22", "insert_0", "insert_1", "insert_2"})
      expectIn(text, part);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(line.size(), columns) << line;
  }
}

TEST(FindingText, TellsThePathsApart) {
  Finding leak = findingOf("leak");
  leak.bytes = leak.count = 100;
  leak.paths = {{60, 60, {inCache("remember", 8), inCache("load", 20)}, true, 0},
                {40, 40, {inCache("remember", 8), inCache("save", 21)}, true, 0}};
  const std::string text = textOf({leak});
  expectIn(text, "    60% < cache.c:20 in load\n    40% < cache.c:21 in save\n");
}

TEST(FindingText, ARoundThatTheProgramDidNotSayIsNoStep) {
  Finding growth = findingOf("growth");
  growth.evidence = {{"growth_bytes_per_step", uint64_t{316}}};
  EXPECT_EQ(titleOf(growth), "growth: 10,000 blocks of `struct node` (10.0 MiB) stay behind, 316 B a step (likely)");
  growth.evidence.emplace_back("period_found", std::string("loop.c:29"));
  growth.evidence.emplace_back("period_rounds", uint64_t{27});
  EXPECT_EQ(titleOf(growth),
            "growth: 10,000 blocks of `struct node` (10.0 MiB) stay behind, 316 B a round (27 found, each "
            "begins at loop.c:29) (likely)");
}

// The program has lost a list. Only the loss of the first block is a mistake: it caused the loss of the other blocks.
// So the text must show the other blocks under the first one.
TEST(FindingText, WhatOnlyALostBlockLeadsToIsFoldedUnderIt) {
  Finding head = findingOf("leak"), led = findingOf("leak"), other = findingOf("leak");
  head.count = 1;
  head.family = led.family = 1;
  head.evidence = {
      {"reach", std::string("lost")}, {"leads_to_bytes", uint64_t{3000}}, {"leads_to_blocks", uint64_t{2}}};
  led.evidence = {{"reach", std::string("indirect")}};
  led.site = *inCache("fill", 50);
  led.bytes = 3000;
  led.count = 2;
  other.evidence = {{"reach", std::string("unknown")}};
  const std::string text = textOf({head, led, other}, 120);
  expectIn(text, "1.  leak: nothing points to 1 block of `struct node` (10.0 MiB) any more, nor to 2 blocks (2.93 KiB) "
                 "that only it");
  expectIn(text, "    with 2.93 KiB in 2 blocks of cache.c:50 in fill\n");
  expectIn(text, "\n3.  leak: 10,000 blocks of `struct node` (10.0 MiB) are still there at exit (likely)\n");
  EXPECT_EQ(text.find("2.  "), std::string::npos) << "the number is the one that `msleaks verify` knows\n" << text;
}

TEST(FindingText, CountsHandlesInEnglish) {
  Finding handles = findingOf("handles");
  handles.concern = Concern::Handles;
  handles.bytes = 0;
  handles.count = 30;
  handles.part = "descriptor";
  EXPECT_EQ(titleOf(handles), "handles: 30 descriptors were never given back (likely)");
  handles.count = 1;
  handles.part = "FILE";
  handles.evidence = {{"keeps_bytes", uint64_t{1024}}};
  EXPECT_EQ(titleOf(handles), "handles: 1 FILE was never given back; it keeps 1.00 KiB (likely)");
}

TEST(FindingText, EachKindHasItsSentence) {
  const struct {
    const char *kind;
    Evidence evidence;
    const char *title;
  } kinds[] = {
      {"early-allocation",
       {{"idle_ns", uint64_t{2'000'000'000}}},
       "1 block of `float` (4.00 KiB) is allocated 2.00 s before its first use"},
      {"late-free",
       {{"idle_ns", uint64_t{2'000'000'000}}},
       "1 block of `float` (4.00 KiB) stays allocated 2.00 s after its last use"},
      {"unused", {}, "1 block of `float` (4.00 KiB) is never used"},
      {"unused", {{"touched_bytes", uint64_t{0}}}, "1 block of `float` (4.00 KiB) is never touched"},
      {"overallocated", {{"touched_bytes", uint64_t{100}}}, "4.00 KiB of 1 block is never touched"},
      {"overallocated", {{"sampled_blocks", uint64_t{64}}}, "4.00 KiB of 1 block hold only zeros, by a sample of 64"},
      {"capacity", {{"touched_bytes", uint64_t{100}}}, "4.00 KiB of 1 block was not touched after it last grew"},
      {"copy",
       {{"idle_ns", uint64_t{2'000'000'000}}, {"copied_from", std::string("net.cpp:4")}},
       "1 block of `float` (4.00 KiB) is a copy of the block of net.cpp:4, alive 2.00 s beside it"},
      {"copy",
       {{"idle_ns", uint64_t{2'000'000'000}}},
       "1 block of `float` (4.00 KiB) stays alive 2.00 s beside its copy on the device"},
      {"idle",
       {{"idle_launches", uint64_t{120}}},
       "1 block of `float` (4.00 KiB) is not used for 120 launches around the peak"},
      {"redundant",
       {{"fits_into", std::string("net.cpp:4")}},
       "1 block of `float` (4.00 KiB) could use the memory of the block of net.cpp:4"},
      {"dead-write", {}, "1 write (4.00 KiB) is overwritten before anything reads it"},
      {"fragmentation", {}, "4.00 KiB are free in 1 segment of a pool at the peak"},
      {"peak", {{"peak_bytes", uint64_t{8192}}}, "1 block of `float` (4.00 KiB) is 50% of the device 1 peak"},
      {"float64", {}, "1 tensor of float64 has 4.00 KiB at the peak, and would need half of it as float32"},
      {"trampled",
       {{"block", std::string("weights")}, {"operation", std::string("relu")}},
       "4.00 KiB of `weights` changed during `relu`"},
      {"out-of-memory",
       {{"alive_bytes", uint64_t{1} << 30}},
       "4.00 KiB were refused when 1.00 GiB of device 1 were alive"},
      {"churn", {}, "1 block of `float` (4.00 KiB) is allocated again and again"},
      {"recompiles",
       {{"compilations", uint64_t{6}}},
       "a function is compiled 6 times; all but the first keep 1 block of `float` (4.00 KiB)"},
      {"mine/odd", {}, "1 block of `float` (4.00 KiB)"},
  };
  for (const auto &[kind, evidence, title] : kinds) {
    Finding finding = findingOf(kind);
    finding.site.type = "float";
    finding.bytes = 4096;
    finding.count = 1;
    finding.heap = abi::Heap::Device;
    finding.device = 1;
    finding.evidence = evidence;
    EXPECT_EQ(titleOf(finding), std::string(kind) + ": " + title + " (likely)");
  }
}

} // namespace msleaks::analysis
