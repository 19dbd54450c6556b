// Tests what the report says about handles that were never closed.
#include "report_fixture.h"

namespace msleaks::analysis {
namespace {

using abi::HandleKind;
using test::closed;
using test::opened;

class HandlesTest : public ReportTest {
protected:
  static std::vector<StreamEvent> many(uint64_t count, HandleKind kind, const Where &where = kOne) {
    std::vector<StreamEvent> list;
    for (uint64_t i = 0; i < count; ++i)
      list.push_back(opened(kStart + 100 + i, kind, 1000 + i, where));
    return list;
  }
  json ask(const ReportQuestion &question) {
    const auto report = analyzeRun(run, question);
    EXPECT_TRUE(report) << report.error().message;
    std::ostringstream out;
    writeReportJson(out, *report);
    return json::parse(out.str())["handles"];
  }
};

} // namespace

TEST_F(HandlesTest, ARunWithoutAnyHasAnEmptyList) {
  EXPECT_EQ(reportOf({test::alloc(kStart + 1, 0x10, 8)})["handles"], json::array());
}

TEST_F(HandlesTest, WhatIsLeftIsListedByKindAndPlace) {
  const json report = reportOf(
      {opened(kStart + 100, HandleKind::File, 0x10, kOne), opened(kStart + 101, HandleKind::File, 0x20, kOne),
       opened(kStart + 102, HandleKind::Descriptor, 3, kTwo), opened(kStart + 103, HandleKind::Descriptor, 4, kTwo),
       closed(kStart + 104, HandleKind::Descriptor, 3, kTwo), opened(kStart + 105, HandleKind::ClEvent, 0x10, kOne)});
  const json &handles = report["handles"];
  ASSERT_EQ(handles.size(), 3u);
  EXPECT_EQ(handles[0]["kind"], "FILE") << "most first";
  EXPECT_EQ(handles[0]["count"], 2);
  EXPECT_EQ(handles[0]["site"]["line"], 12);
  ASSERT_EQ(handles[0]["paths"].size(), 1u);
  EXPECT_EQ(handles[0]["paths"][0]["count"], 2);
  EXPECT_EQ(handles[0]["paths"][0]["bytes"], 0);
  EXPECT_EQ(handles[0]["paths"][0]["frames"][0]["line"], 12);
  EXPECT_EQ(report["findings"], json::array()) << "a few are no finding";
  EXPECT_EQ(report["leaks"]["count"], 0);
}

TEST_F(HandlesTest, AnImageThatIsReplacedHasForgottenNothing) {
  start(1, 4711);
  start(2, 4711, kStart + 500);
  events({opened(kStart + 100, HandleKind::Descriptor, 3, kOne), test::alloc(kStart + 101, 0x10, 8, kOne),
          opened(kStart + 600, HandleKind::Descriptor, 4, {.process = 2, .site = 1})});
  end(2, 0, kStart + 1000);
  manifest();
  close();
  const json handles = asJson()["handles"];
  ASSERT_EQ(handles.size(), 1u);
  EXPECT_EQ(handles[0]["count"], 1);
}

// A fork's child inherits descriptors. Only a descriptor that the child itself has opened counts for the child.
TEST_F(HandlesTest, AProcessHasWhatItOpenedItself) {
  start(1, 4711);
  start(2, 4712, kStart + 200);
  events({opened(kStart + 100, HandleKind::Descriptor, 3, kOne),
          opened(kStart + 300, HandleKind::Descriptor, 4, {.process = 2, .site = 1}),
          closed(kStart + 400, HandleKind::Descriptor, 3, {.process = 2, .site = 1})});
  end(1, 0, kStart + 1000);
  end(2, 9, kStart + 1000); // the child was killed while its handle was open
  manifest();
  close();
  const json handles = asJson()["handles"];
  ASSERT_EQ(handles.size(), 1u);
  EXPECT_EQ(handles[0]["count"], 2);
}

TEST_F(HandlesTest, ManyOfOnePlaceAreAFinding) {
  const json report = reportOf(many(10, HandleKind::Stream));
  const json finding = findingOf(report, "handles");
  ASSERT_FALSE(finding.is_null());
  EXPECT_EQ(finding["count"], 10);
  EXPECT_EQ(finding["bytes"], 0);
  EXPECT_EQ(finding["saves_bytes"], 0);
  EXPECT_EQ(finding["evidence"]["handle"], "stream");
  EXPECT_EQ(finding["confidence"], "likely");
  EXPECT_EQ(finding["site"]["line"], 12);
}

// A context uses much memory of the device and of the driver. So even one open context is a hint.
TEST_F(HandlesTest, OneContextIsAHint) {
  const json report = reportOf(
      {opened(kStart + 100, HandleKind::ClContext, 0x10, kOne), opened(kStart + 101, HandleKind::ClQueue, 0x20, kTwo)});
  ASSERT_EQ(report["findings"].size(), 1u);
  EXPECT_EQ(report["findings"][0]["evidence"]["handle"], "cl_context");
  EXPECT_EQ(report["findings"][0]["confidence"], "hint");
}

TEST_F(HandlesTest, TheTableNamesCallers) {
  reportOf(many(12, HandleKind::Plan, kTwo)); // net.cpp:3, inlined into net::make(), which is inlined into main
  const std::string text = asTable();
  const size_t table = text.find("Handles never given back");
  ASSERT_NE(table, std::string::npos);
  EXPECT_NE(text.find("< src/net.cpp:40:5 in net::make()", table), std::string::npos) << text;
}

TEST_F(HandlesTest, OneAStepIsAFinding) {
  std::vector<StreamEvent> list;
  for (uint64_t step = 0; step < 6; ++step) {
    list.push_back(test::make<abi::StepEvent>(kStart + 100 * step, {}, step, 0));
    list.push_back(opened(kStart + 100 * step + 1, HandleKind::Event, 10 + step, kOne)); // each of these stays open
    list.push_back(opened(kStart + 100 * step + 2, HandleKind::Event, 20 + step, kTwo));
    if (step != 0)
      list.push_back(closed(kStart + 100 * step + 3, HandleKind::Event, 20 + step - 1, kTwo)); // closed one step later
  }
  const json report = reportOf(list);
  const json finding = findingOf(report, "handles");
  ASSERT_EQ(report["findings"].size(), 1u);
  EXPECT_EQ(finding["count"], 6);
  EXPECT_EQ(finding["site"]["line"], 12);
  EXPECT_EQ(finding["evidence"]["steps"], 4);
}

// Each of the first four steps leaves a handle open, as a cache does until it is full. The six later steps open no
// handle.
TEST_F(HandlesTest, AFewOfSomeStepsAreNone) {
  std::vector<StreamEvent> list;
  for (uint64_t step = 0; step < 10; ++step) {
    list.push_back(test::make<abi::StepEvent>(kStart + 50 * step, {}, step, 0));
    if (step < 4)
      list.push_back(opened(kStart + 50 * step + 1, HandleKind::Event, 10 + step, kOne));
  }
  EXPECT_EQ(reportOf(list)["findings"], json::array());
}

TEST_F(HandlesTest, TheyStandBehindWhatSavesMemory) {
  std::vector<StreamEvent> list = many(5000, HandleKind::Stream);
  list.push_back(test::alloc(kStart + 90'000, 0x10, 1, kTwo));
  const json report = reportOf(list);
  ASSERT_EQ(report["findings"].size(), 2u);
  EXPECT_EQ(report["findings"][0]["kind"], "leak");
  EXPECT_EQ(report["findings"][1]["kind"], "handles");
}

TEST_F(HandlesTest, TwoKindsOfAPlaceAreTwoFindings) {
  std::vector<StreamEvent> list = many(20, HandleKind::File);
  for (const StreamEvent &event : many(20, HandleKind::Descriptor))
    list.push_back(event);
  const json report = reportOf(list);
  ASSERT_EQ(report["findings"].size(), 2u);
  EXPECT_NE(report["findings"][0]["id"], report["findings"][1]["id"]);
}

TEST_F(HandlesTest, OfAKilledProcessAndOfALibraryTheyAreNoFinding) {
  start(1, 4711);
  events(many(50, HandleKind::Descriptor));
  end(1, 9, kStart + 1000);
  manifest();
  close();
  const json report = asJson();
  EXPECT_EQ(report["findings"], json::array());
  EXPECT_EQ(report["handles"][0]["count"], 50);
}

TEST_F(HandlesTest, TheyDoNotChangeTheExitStatus) {
  reportOf(many(50, HandleKind::Descriptor));
  EXPECT_FALSE(report().hasFindings());
}

// Handles that were open before the pause may have been closed during the pause. So the report does not list them.
TEST_F(HandlesTest, APauseForgetsThem) {
  const json report = reportOf({test::make<abi::EpochEvent>(kStart + 50, {.process = kSessionProcess}, 1, UINT64_MAX),
                                opened(kStart + 100, HandleKind::Descriptor, 3, kOne),
                                test::make<abi::EpochEvent>(kStart + 200, {.process = kSessionProcess}, 2, 0),
                                test::make<abi::EpochEvent>(kStart + 300, {.process = kSessionProcess}, 3, UINT64_MAX),
                                opened(kStart + 400, HandleKind::Descriptor, 4, kTwo)});
  ASSERT_EQ(report["handles"].size(), 1u);
  EXPECT_EQ(report["handles"][0]["site"]["line"], 3);
}

TEST_F(HandlesTest, AWindowHasThoseOfItsTime) {
  start(1, 4711);
  events({opened(kStart + 100, HandleKind::Descriptor, 3, kOne), opened(kStart + 200, HandleKind::Descriptor, 4, kOne),
          opened(kStart + 300, HandleKind::Descriptor, 5, kOne), closed(kStart + 350, HandleKind::Descriptor, 4, kOne),
          closed(kStart + 360, HandleKind::Descriptor, 3, kOne),
          opened(kStart + 400, HandleKind::Descriptor, 6, kOne)});
  end(1, 0, kStart + 1000);
  manifest();
  close();
  ReportQuestion question;
  question.window.from = uint64_t{150};
  question.window.to = uint64_t{320};
  EXPECT_EQ(ask(question)[0]["count"], 2);
  question.window.to = std::nullopt;
  EXPECT_EQ(ask(question)[0]["count"], 2);
  question.window.born_until = uint64_t{250}; // only one handle was opened by then, and it is closed later
  question.window.to = uint64_t{900};
  EXPECT_EQ(ask(question), json::array());
}

TEST_F(HandlesTest, AThreadsOwnAreThoseThatItOpened) {
  start(1, 4711);
  const Where other{.stream = 1, .site = 1};
  events({opened(kStart + 100, HandleKind::Descriptor, 3, kOne), opened(kStart + 200, HandleKind::Descriptor, 4, kOne),
          closed(kStart + 300, HandleKind::Descriptor, 3, other),
          opened(kStart + 400, HandleKind::Descriptor, 5, other)});
  end(1, 0, kStart + 1000);
  manifest();
  close();
  ReportQuestion question;
  question.pid = 4711;
  const json all = ask(question);
  EXPECT_EQ(all[0]["count"], 2);
}

TEST_F(HandlesTest, TheTextHasThem) {
  reportOf(many(12, HandleKind::Plan));
  const std::string text = asTable();
  EXPECT_NE(text.find("handles: 12 plans were never given back (likely)"), std::string::npos) << text;
  EXPECT_NE(text.find("Call cufftDestroy for each plan that `net::grow` makes."), std::string::npos) << text;
  EXPECT_NE(text.find("Handles never given back"), std::string::npos) << text;
}

} // namespace msleaks::analysis
