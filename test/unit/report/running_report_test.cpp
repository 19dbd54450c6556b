// Tests reports that are begun while the run still grows. They must equal the report of the whole run.
#include "report_fixture.h"

#include "analysis/report/analyze_run.h"
#include "analysis/report/running_report.h"

#include <random>
#include <set>

namespace msleaks::analysis {
namespace {

const Where kWeights{.site = 1};

class RunningReportTest : public ReportTest {
protected:
  void follow() {
    auto followed = RunningReport::follow(run);
    ASSERT_TRUE(followed) << followed.error().message;
    running = std::move(*followed);
  }
  void takeAll() {
    do
      ASSERT_TRUE(running->advance());
    while (running->isBehind());
  }
  void endSession(uint64_t time_ns) {
    end(1, 0, time_ns);
    manifest();
    close();
  }
  static json jsonOf(const Result<Report> &report) {
    EXPECT_TRUE(report) << report.error().message;
    std::ostringstream out;
    writeReportJson(out, report.value_or(Report{}));
    return json::parse(out.str());
  }
  // Returns whether the events that were read so far are enough for the report. Also checks that the final report
  // equals that of the whole run.
  bool isEnough() {
    const json whole = jsonOf(analyzeRun(run));
    EXPECT_EQ(jsonOf(finishRun(run, running.get())), whole);
    auto reader = TraceReader::open(trace_file);
    EXPECT_TRUE(reader);
    return running->finish(*reader, {}) != nullptr;
  }

  std::unique_ptr<RunningReport> running;
};

TEST_F(RunningReportTest, IsThatOfTheWhole) {
  std::mt19937_64 random(8);
  start(1, 4711);
  follow();
  uint64_t now_ns = kStart;
  std::map<uint32_t, std::map<uint64_t, Where>> alive;
  std::set<uint32_t> running_now{1};
  uint32_t last = 1;
  for (int round = 0; round < 300; ++round) {
    std::vector<StreamEvent> list;
    for (int i = 0; i < 30; ++i) {
      const uint32_t process = *std::next(running_now.begin(), static_cast<ptrdiff_t>(random() % running_now.size()));
      const uint64_t address = 64 + random() % 40 * 64;
      const Where where{.process = process,
                        .stream = static_cast<uint32_t>(random() % 3),
                        .site = static_cast<uint32_t>(1 + random() % 3)};
      ++now_ns;
      if (alive[process].erase(address))
        list.push_back(test::free(now_ns, address, where));
      else {
        list.push_back(test::alloc(now_ns, address, random() % 1000, where));
        alive[process][address] = where;
      }
    }
    now_ns += 10;
    grow(list, now_ns);
    if (round % 20 == 19) { // another process begins, and sometimes one ends
      ++last;
      start(last, 4711 + last, now_ns);
      running_now.insert(last);
      if (random() % 2 == 0) {
        const uint32_t gone = *running_now.rbegin() - 1;
        if (gone > 1 && running_now.erase(gone))
          end(gone, random() % 2 == 0 ? 9 : 0, now_ns);
      }
      now_ns += 200'000; // longer than kEndSlackNs, by which an event may be later than its process's end
    }
    if (random() % 3 == 0)
      takeAll();
  }
  for (const uint32_t process : running_now)
    if (process != 1)
      end(process, 0, now_ns);
  endSession(now_ns + 1);
  EXPECT_TRUE(isEnough());
}

TEST_F(RunningReportTest, NeedsAllEvents) {
  start(1, 4711);
  grow({test::alloc(kStart + 100, 0x10, 1000, kWeights)}, kStart + 200);
  follow();
  takeAll();
  EXPECT_EQ(running->liveBlocks(), 1u);
  grow({test::alloc(kStart + 300, 0x20, 50, kTwo)}, kStart + 400);
  endSession(kStart + 500);
  EXPECT_TRUE(isEnough()); // finish() adds the later events
}

TEST_F(RunningReportTest, IsNotEnoughWhenEventsCameTooLate) {
  start(1, 4711);
  grow({test::alloc(kStart + 200, 0x10, 1000, kWeights), test::free(kStart + 300, 0x10, kWeights)}, kStart + 400);
  follow();
  takeAll();
  grow({test::alloc(kStart + 100, 0x20, 7000, {.stream = 1, .site = 2}),
        test::free(kStart + 150, 0x20, {.stream = 1, .site = 2})},
       kStart + 500);
  endSession(kStart + 600);
  EXPECT_FALSE(isEnough());
}

TEST_F(RunningReportTest, IsNotEnoughWhenAnEndCameTooLate) {
  start(1, 4711);
  start(2, 4712);
  grow({test::alloc(kStart + 100, 0x10, 1000, {.process = 2, .site = 1}),
        test::alloc(kStart + 5'000'000, 0x10, 1000, kWeights)},
       kStart + 6'000'000);
  follow();
  takeAll();
  end(2, 0, kStart + 1'000'000);
  endSession(kStart + 7'000'000);
  EXPECT_FALSE(isEnough());
}

TEST_F(RunningReportTest, IsNotEnoughForATraceThatWasCut) {
  start(1, 4711);
  grow({test::alloc(kStart + 100, 0x10, 1000, kWeights), test::alloc(kStart + 110, 0x20, 50, kTwo)}, kStart + 200);
  follow();
  takeAll();
  endSession(kStart + 500);
  std::filesystem::resize_file(trace_file, std::filesystem::file_size(trace_file) / 2);
  EXPECT_FALSE(isEnough());
}

// The trace has no trailer if msleaks-run was killed. In this case, the events that were read so far must not count as
// all events.
TEST_F(RunningReportTest, IsNotEnoughWithoutAnEndOfTheSession) {
  start(1, 4711);
  grow({test::alloc(kStart + 100, 0x10, 1000, kWeights)}, kStart + 200);
  follow();
  takeAll();
  manifest("running");
  EXPECT_FALSE(isEnough());
}

} // namespace
} // namespace msleaks::analysis
