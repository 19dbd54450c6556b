// Tests reports about a part of a run. A report must be the same, whether msleaks reads the trace from the run's
// beginning or from a checkpoint.
#include "report_fixture.h"

#include "../live/random_run.h"
#include "analysis/report/analyze_run.h"
#include "analysis/report/question.h"
#include "analysis/report/running_report.h"

#include <array>
#include <fstream>
#include <random>

namespace msleaks::analysis {
namespace {

class WindowTest : public ReportTest {
protected:
  static constexpr uint64_t kCheckpointEvents = 300;

  // Records a random run, and makes a copy of the run. The copy has no checkpoints.
  void record(uint64_t seed, int events) {
    test::RandomRun random(seed, kStart);
    const std::string labels = test::RandomRun::labels().bytes;
    for (uint32_t process = 1; process <= test::RandomRun::kProcesses; ++process) {
      start(process, 4710 + process);
      ASSERT_TRUE(writer->definitions(process, std::as_bytes(std::span(labels))));
    }
    auto running = RunningReport::follow(run, kCheckpointEvents);
    ASSERT_TRUE(running) << running.error().message;
    while (events > 0) {
      std::vector<StreamEvent> list;
      for (int i = 0; i < 50; ++i, --events)
        list.push_back(random.next());
      grow(list, random.now());
      ASSERT_TRUE((*running)->advance());
      if (events == 1'000)
        end(2, 0, random.now() + 1); // later events of the process follow
    }
    last_ns = random.now();
    end(1, 0, last_ns);
    end(3, 9, last_ns);
    manifest();
    close();
    std::filesystem::copy(run, twin, std::filesystem::copy_options::recursive);
    const auto report = finishRun(run, running->get());
    ASSERT_TRUE(report) << report.error().message;
  }
  std::vector<CheckpointPlace> checkpoints() {
    const auto reader = TraceReader::open(trace_file);
    EXPECT_TRUE(reader) << reader.error().message;
    return reader ? reader->checkpoints() : std::vector<CheckpointPlace>();
  }
  json ask(const std::filesystem::path &of, const ReportQuestion &question) {
    const auto report = analyzeRun(of, question);
    if (!report)
      return report.error().message;
    std::ostringstream out;
    writeReportJson(out, *report);
    json whole = json::parse(out.str());
    whole.erase("run");
    return whole;
  }
  void expectSame(const ReportQuestion &question) {
    EXPECT_EQ(json::diff(ask(twin, question), ask(run, question)).dump(), "[]");
  }

  std::filesystem::path twin;
  uint64_t last_ns = 0;
  void SetUp() override {
    ReportTest::SetUp();
    twin = base / "twin";
  }
};

ReportQuestion between(std::optional<Moment> from, std::optional<Moment> to = {}) {
  ReportQuestion question;
  question.window = {.from = std::move(from), .born_until = {}, .to = std::move(to)};
  return question;
}

} // namespace

class Windows : public WindowTest, public testing::WithParamInterface<uint64_t> {};

TEST_P(Windows, AreThoseOfAWholeReading) {
  record(GetParam(), 40'000);
  const auto places = checkpoints();
  ASSERT_GE(places.size(), 6u);
  std::mt19937_64 random(GetParam());
  for (int i = 0; i < 4 && !HasFailure(); ++i) {
    const uint64_t from = random() % (last_ns - kStart), to = from + 1 + random() % (last_ns - kStart - from);
    expectSame(between(from));
    expectSame(between(from, to));
  }
  for (const uint64_t beside : {0, 1, 2}) // from just before a checkpoint to just after it
    expectSame(between(places[places.size() / 2].time_ns - 1 + beside - kStart));
  for (uint64_t step = 1; step < 200; step += 61)
    expectSame(between(StepBegin{step}, StepBegin{step + 9}));
  expectSame(between(MarkNamed{"label 2"}));
  expectSame(between(StepBegin{1'000'000}));
  ReportQuestion one = between(last_ns / 2 - kStart / 2);
  one.pid = 4712;
  expectSame(one);
}

TEST_P(Windows, AMomentHasTheBlocksOfARunThatIsCutThere) {
  record(GetParam(), 5'000);
  std::mt19937_64 random(GetParam());
  std::vector<Moment> moments{StepBegin{1}, StepBegin{62}, MarkNamed{"label 2"}, last_ns - kStart};
  for (int i = 0; i < 6; ++i)
    moments.push_back(1 + random() % (last_ns - kStart));
  size_t compared = 0;
  for (const Moment &moment : moments) {
    ReportQuestion state;
    state.at = State{moment, "then"};
    expectSame(state);
    const json at = ask(run, state), cut = ask(twin, between({}, moment));
    if (at.is_string()) // an error: compilers order the random numbers differently, and not each run has this moment
      continue;
    ++compared;
    EXPECT_EQ(at["alive_at_end"], cut["alive_at_end"]);
    EXPECT_EQ(at["peak"]["bytes"], cut["alive_at_end"]["bytes"]);
    EXPECT_EQ(at["at"]["moment"], "then");
    EXPECT_EQ(at["findings"], json::array());
  }
  EXPECT_GE(compared, 7u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Windows, testing::Values(1, 2, 3));

TEST_F(WindowTest, AreReadFromTheLastCheckpointBeforeThem) {
  record(5, 12'000);
  const auto places = checkpoints();
  ASSERT_GE(places.size(), 4u);
  auto reader = TraceReader::open(trace_file);
  ASSERT_TRUE(reader);
  uint64_t events = 0;
  for (const CheckpointPlace &place : places) {
    const auto checkpoint = reader->checkpoint(place);
    ASSERT_TRUE(checkpoint) << checkpoint.error().message;
    EXPECT_GE(checkpoint->events, events + kCheckpointEvents);
    events = checkpoint->events;
  }
}

// The events still exist. So damaged checkpoints must not change the report.
TEST_F(WindowTest, NeedNoCheckpoint) {
  record(6, 12'000);
  const auto places = checkpoints();
  ASSERT_GE(places.size(), 4u);
  const ReportQuestion late = between(last_ns - kStart - 1'000'000);
  for (size_t damaged = places.size(); damaged-- > 0;) { // from the last one, which a reader would use
    std::fstream file(trace_file, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(places[damaged].offset + sizeof(ChunkHeader) + 5));
    file.put('\x7f').put('\x7f').put('\x7f');
    file.close();
    expectSame(late);
    expectSame(between(StepBegin{100}));
  }
}

TEST_F(WindowTest, LaterEventsEndTheUseOfCheckpoints) {
  record(7, 12'000);
  ASSERT_FALSE(checkpoints().empty());
  auto again = TraceWriter::append(trace_file);
  ASSERT_TRUE(again) << again.error().message;
  const std::array slots{test::alloc(kStart + 10, 0x77770, 4'000'000, {.site = 1}).event.slots[0]};
  ASSERT_TRUE(again->events({1, 7, 0, slots}));
  ASSERT_TRUE(again->close());
  EXPECT_TRUE(checkpoints().empty());
  const json report = ask(run, between(last_ns - kStart - 1'000'000));
  EXPECT_GT(report["peak"]["bytes"].get<uint64_t>(), 4'000'000u);
}

TEST_F(WindowTest, NamesMayFollowCheckpointsAndASecondReportAddsNone) {
  record(8, 12'000);
  const size_t count = checkpoints().size();
  ASSERT_GT(count, 0u);
  auto again = TraceWriter::append(trace_file);
  ASSERT_TRUE(again);
  ASSERT_TRUE(again->names({{"/nowhere/libx.so", {}}, {{0x123, {{"f", "x.c", 3, 0}}, ""}}}));
  ASSERT_TRUE(again->close());
  EXPECT_EQ(checkpoints().size(), count);
  ASSERT_TRUE(finishRun(run));
  EXPECT_EQ(checkpoints().size(), count);
}

} // namespace msleaks::analysis
