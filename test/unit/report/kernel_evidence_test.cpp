// Tests what a report says about slow operations: their causes in the kernel, and what is left (docs/kernel.md).
#include "report_fixture.h"

namespace msleaks::analysis {
namespace {

constexpr uint32_t kTid = 100, kPid = 4711, kKernelStream = 1;

template <class Event> StreamEvent ofKernel(const Event &event) {
  abi::AnyEvent any = abi::AnyEvent::from(event);
  any.slots[1].header.kind = abi::EventKind::Continuation;
  return {kSessionProcess, kKernelStream, any};
}
template <class Event> abi::EventHeader headerAt(uint64_t end_ns) {
  return {Event::kKind, abi::Heap::Host, 0, 0, 0, end_ns};
}

StreamEvent call(uint64_t begin_ns, uint64_t end_ns, uint16_t number, uint32_t tid = kTid, uint16_t status = 0) {
  return ofKernel(abi::SyscallEvent{headerAt<abi::SyscallEvent>(end_ns), static_cast<uint64_t>(-4), end_ns - begin_ns,
                                    abi::kContinuationTag, kPid, tid, 1, number, status, 0});
}
StreamEvent offCpu(uint64_t begin_ns, uint64_t end_ns, uint64_t queue_ns, uint32_t next_tid) {
  return ofKernel(abi::OffCpuEvent{headerAt<abi::OffCpuEvent>(end_ns), end_ns - begin_ns, queue_ns,
                                   abi::kContinuationTag, kPid, kTid, next_tid, 1, 0});
}
StreamEvent fault(uint64_t begin_ns, uint64_t end_ns) {
  return ofKernel(abi::FaultEvent{headerAt<abi::FaultEvent>(end_ns), 0x1000, 0x2000, abi::kContinuationTag, kPid, kTid,
                                  6, end_ns - begin_ns});
}
StreamEvent task(uint32_t tid) {
  uint64_t name = 0;
  std::memcpy(&name, "other", 5);
  return ofKernel(abi::TaskEvent{headerAt<abi::TaskEvent>(kStart), name, 0, abi::kContinuationTag, 1, tid, 0, 0});
}
StreamEvent took(uint64_t end_ns, uint64_t duration_ns, uint64_t flags = 0, const Where &where = kOne) {
  return test::make<abi::TookEvent>(end_ns, where, duration_ns, kTid | flags);
}

} // namespace

// GIVEN an allocation with a call, in which the thread sleeps THEN both are causes, and the time counts once.
TEST_F(ReportTest, CausesInCausesExplainTheTimeOnce) {
  const json report =
      reportOf({task(7), call(kStart + 100, kStart + 900, 202), offCpu(kStart + 200, kStart + 800, 100, 7),
                call(kStart + 10, kStart + 20, 39), fault(kStart + 900, kStart + 950),
                test::alloc(kStart + 1050, 0x10, 64, kOne), took(kStart + 1051, 1000)});
  const json &slowest = report["kernel"]["slowest"];
  ASSERT_EQ(slowest.size(), 1u);
  expectKeys(slowest[0],
             {{"what", "alloc"}, {"duration_ns", 1000}, {"explained_ns", 850}, {"pid", kPid}, {"tid", kTid}});
  EXPECT_EQ(slowest[0]["site"]["line"], 12);
  const json causes = {{{"kind", "syscall"}, {"name", "futex"}, {"duration_ns", 800}, {"count", 1}},
                       {{"kind", "off-cpu"}, {"name", nullptr}, {"duration_ns", 500}, {"count", 1}},
                       {{"kind", "queue"}, {"name", "other"}, {"duration_ns", 100}, {"count", 1}},
                       {{"kind", "fault"}, {"name", nullptr}, {"duration_ns", 50}, {"count", 1}}};
  EXPECT_EQ(slowest[0]["causes"], causes);
}

// GIVEN a cause that has begun before the operation THEN only its part in the operation counts.
TEST_F(ReportTest, ACauseIsCutToTheOperation) {
  const json report = reportOf(
      {call(kStart + 100, kStart + 900, 0), test::alloc(kStart + 1000, 0x10, 64, kOne), took(kStart + 1000, 200)});
  const json &slow = report["kernel"]["slowest"][0];
  EXPECT_EQ(slow["explained_ns"], 100);
  EXPECT_EQ(slow["causes"][0]["duration_ns"], 100);
}

// GIVEN two operations of a thread, and a call of another thread THEN each one has only its own causes.
TEST_F(ReportTest, EachOperationHasItsOwnCauses) {
  const json report =
      reportOf({test::alloc(kStart + 300, 0x10, 64, kOne), call(kStart + 100, kStart + 200, 0), took(kStart + 301, 250),
                call(kStart + 500, kStart + 600, 1), call(kStart + 500, kStart + 690, 2, kTid + 1),
                test::alloc(kStart + 700, 0x20, 64, kTwo), took(kStart + 701, 300)});
  const json &slowest = report["kernel"]["slowest"];
  ASSERT_EQ(slowest.size(), 2u);
  EXPECT_EQ(slowest[0]["causes"].size(), 1u);
  EXPECT_EQ(slowest[0]["causes"][0]["name"], "write");
  EXPECT_EQ(slowest[1]["causes"].size(), 1u);
  EXPECT_EQ(slowest[1]["causes"][0]["name"], "read");
}

// GIVEN a call whose Alloc is recorded after it, and an Alloc of another thread between them THEN the right one is
// slow.
TEST_F(ReportTest, TheAllocOfACallMayComeLater) {
  const Where other{.stream = 1, .site = 2};
  const json report = reportOf({took(kStart + 400, 300, abi::kTookIsFirst), test::alloc(kStart + 410, 0x20, 64, other),
                                test::alloc(kStart + 420, 0x10, 64, kOne)});
  const json &slowest = report["kernel"]["slowest"];
  ASSERT_EQ(slowest.size(), 1u);
  EXPECT_EQ(slowest[0]["site"]["line"], 12);
  EXPECT_EQ(slowest[0]["duration_ns"], 300);
}

// GIVEN a launch with an allocation of the driver inside THEN the launch is the slow operation.
TEST_F(ReportTest, ALaunchIsNoAllocation) {
  const uint64_t launch = uint64_t{static_cast<uint8_t>(abi::TookKind::Launch)} << abi::kTookKindShift;
  const json report = reportOf({test::launch(kStart + 100, 0, {.heap = abi::Heap::Device, .site = 2}),
                                test::alloc(kStart + 200, 0x10, 64, kOne), took(kStart + 500, 400, launch)});
  const json &slowest = report["kernel"]["slowest"];
  ASSERT_EQ(slowest.size(), 1u);
  EXPECT_EQ(slowest[0]["what"], "launch");
  EXPECT_NE(slowest[0]["site"]["line"], 12);
}

// GIVEN three steps THEN the first two have the time until the next one, and what the kernel did in it.
TEST_F(ReportTest, StepsAreExplainedToo) {
  const auto step = [](uint64_t time_ns, uint64_t number) {
    return test::make<abi::StepEvent>(time_ns, kOne, number, 0);
  };
  const json report = reportOf({step(kStart + 100, 1), took(kStart + 101, 0), call(kStart + 200, kStart + 300, 0),
                                call(kStart + 350, kStart + 400, 0), step(kStart + 500, 2), took(kStart + 501, 0),
                                step(kStart + 600, 3), took(kStart + 601, 0)});
  const json &slowest = report["kernel"]["slowest"];
  ASSERT_EQ(slowest.size(), 2u);
  expectKeys(slowest[0], {{"what", "step"}, {"duration_ns", 400}, {"explained_ns", 150}});
  EXPECT_EQ(slowest[0]["causes"][0]["count"], 2);
  expectKeys(slowest[1], {{"what", "step"}, {"duration_ns", 100}, {"explained_ns", 0}});
}

TEST_F(ReportTest, TheSlowestOperationsAreKept) {
  std::vector<StreamEvent> list;
  for (uint64_t i = 1; i <= 300; ++i) {
    list.push_back(test::alloc(kStart + i * 2000, i * 64, 64, kOne));
    list.push_back(took(kStart + i * 2000 + 1, i * 37 % 301));
  }
  const json report = reportOf(list);
  const json &slowest = report["kernel"]["slowest"];
  ASSERT_EQ(slowest.size(), 100u);
  for (uint64_t i = 0; i < 100; ++i)
    EXPECT_EQ(slowest[i]["duration_ns"], 300 - i);
}

TEST_F(ReportTest, CallsHaveATable) {
  const json report = reportOf({call(kStart + 100, kStart + 200, 0), call(kStart + 300, kStart + 600, 0),
                                call(kStart + 10, kStart + 20, 231, kTid, 1)});
  for (const json &section : report["sections"])
    if (section["name"] == "syscalls") {
      EXPECT_EQ(section["rows"], (json{{"read", 2, 2, 400, 300}}));
      return;
    }
  FAIL() << "there is no such table";
}

TEST_F(ReportTest, AReportHasTheCollectorsOfItsManifest) {
  start(1, kPid);
  end(1, 0, kStart + 1000);
  Manifest manifest;
  manifest.state = "complete";
  manifest.kernel = {{"syscalls", "active", "tp_btf", "", 0, 10, 7, 2, 0, 1, {}},
                     {"sched", "unavailable", "", "need-caps", 1, 0, 0, 0, 0, 0, {{"tp_btf", "need-caps", 1}}}};
  ASSERT_TRUE(RunFolder::open(run)->writeManifest(manifest));
  close();
  const Report known = report();
  const json collectors = json::parse(jsonText(known))["kernel"]["collectors"];
  ASSERT_EQ(collectors.size(), 2u);
  expectKeys(collectors[0], {{"name", "syscalls"},
                             {"state", "active"},
                             {"mechanism", "tp_btf"},
                             {"reason", nullptr},
                             {"entered", 10},
                             {"delivered", 7},
                             {"ring_full", 2},
                             {"map_full", 0},
                             {"unreturned", 1}});
  EXPECT_EQ(collectors[1]["refusals"], (json{{{"mechanism", "tp_btf"}, {"reason", "need-caps"}, {"errno", 1}}}));
  const std::string text = tableText(known);
  EXPECT_NE(text.find("syscalls active by tp_btf: 7 of 10, 2 LOST, 1 never ended; sched"), std::string::npos) << text;
  EXPECT_NE(text.find("unavailable: need-caps"), std::string::npos) << text;
}

} // namespace msleaks::analysis
