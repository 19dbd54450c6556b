// Tests the series: the memory over time, which is stored in the run folder (analysis/result/series.h).
#include "report_fixture.h"

#include "analysis/base/files.h"
#include "analysis/exporters/export_run.h"
#include "analysis/exporters/registry.h"
#include "analysis/live/live_set.h"
#include "analysis/result/series.h"

#include "../live/random_run.h"

#include <algorithm>
#include <map>

namespace msleaks::analysis {
namespace {

class SeriesTest : public ReportTest {
protected:
  Series finish() {
    const auto report = finishRun(run);
    EXPECT_TRUE(report) << report.error().message;
    return report && report->series ? *report->series : Series{};
  }
  std::string exported() const {
    std::ostringstream out;
    const auto damage = exportRun(run, *formatOf("series"), out);
    EXPECT_TRUE(damage) << damage.error().message;
    return out.str();
  }
  // Returns the first curve of this kind, and of this name or heap if `name` is given.
  static Series::Curve curveOf(const Series &series, const std::string &by,
                               const std::optional<std::string> &name = std::nullopt) {
    for (const Series::Curve &curve : series.curves)
      if (curve.by == by && (!name || curve.name == name || curve.heap == name))
        return curve;
    ADD_FAILURE() << "there is no curve of " << by << ' ' << name.value_or("");
    return {};
  }
  // Returns the sum of all curves of this kind, without the heaps `pool` and `registered`.
  static std::vector<uint64_t> sumOf(const Series &series, const std::string &by) {
    std::vector<uint64_t> sum(series.moments.size());
    for (const Series::Curve &curve : series.curves)
      if (curve.by == by && curve.heap != "pool" && curve.heap != "registered")
        for (size_t i = 0; i < sum.size(); ++i)
          sum[i] += curve.bytes.at(i);
    return sum;
  }
  std::filesystem::path kept() const { return run / kSeriesFile; }
};

using Numbers = std::vector<uint64_t>;

// Stores the bytes of each account after each change. An event may change several blocks, for example pieces of a
// mapping.
class AccountSums final : public BlockObserver {
public:
  using State = std::map<std::pair<std::string, unsigned>, uint64_t>;

  void onAlloc(const Block &block, AllocCause, uint64_t) override { change(block, block.bytes()); }
  void onFree(const Block &block, FreeCause, uint64_t) override { change(block, 0 - block.bytes()); }
  void onRetarget(const Block &, const Block &, uint64_t) override {}

  std::vector<State> states;

private:
  void change(const Block &block, uint64_t bytes) {
    if (bytes == 0)
      return;
    const State::key_type account(abi::nameOf(block.heap), block.device);
    if ((now_[account] += bytes) == 0)
      now_.erase(account);
    states.push_back(now_);
  }
  State now_;
};

} // namespace

TEST_F(SeriesTest, HasTheMemoryAtEachMaximum) {
  start(1, 4711);
  events(smallRun());
  end(1, 0, kStart + 1000);
  manifest();
  close();
  const Series series = finish();
  EXPECT_EQ(series.moments, (Numbers{400, 800}));
  EXPECT_EQ(curveOf(series, "total").bytes, (Numbers{1000 + 5000 + 70 + 4096, 1000 + 70 + 30 + 1}));
  EXPECT_EQ(curveOf(series, "total").peak_bytes, 10166u);
  EXPECT_EQ(curveOf(series, "account", "host").bytes, (Numbers{6070, 1101}));
  EXPECT_EQ(curveOf(series, "account", "device").bytes, (Numbers{4096, 0}));
  EXPECT_EQ(curveOf(series, "owner", "/bin/net").bytes, (Numbers{10096, 1030}));
  EXPECT_EQ(curveOf(series, "owner", kLibrary).bytes, (Numbers{70, 70}));
  EXPECT_EQ(curveOf(series, "type", "float").bytes, (Numbers{5096, 1030}));
  EXPECT_TRUE(series.steps.empty());
}

TEST_F(SeriesTest, CountsPartsOfAPoolInTheirAccountOnly) {
  start(1, 4711);
  events({test::alloc(kStart + 1, 0x1000, 1000, kOne), test::alloc(kStart + 2, 0x1010, 300, kPart)});
  end(1, 0, kStart + 1000);
  manifest();
  close();
  const Series series = finish();
  for (const char *by : {"total", "owner", "type"})
    EXPECT_EQ(sumOf(series, by), Numbers{1000}) << by;
  EXPECT_EQ(curveOf(series, "account", "pool").bytes, Numbers{300});
}

TEST_F(SeriesTest, HasEachStepOfAProcess) {
  start(1, 4711);
  const auto step = [](uint64_t time_ns, uint64_t number) {
    return test::make<abi::StepEvent>(kStart + time_ns, {}, number, 0);
  };
  events({test::alloc(kStart + 10, 0x10, 1000, kOne), step(20, 1), test::alloc(kStart + 30, 0x20, 50, kTwo),
          test::launch(kStart + 35, 0, {.heap = abi::Heap::Device}), test::free(kStart + 40, 0x20, kTwo), step(50, 2),
          test::alloc(kStart + 60, 0x30, 7, kOne)});
  end(1, 0, kStart + 1000);
  manifest();
  close();
  const Series series = finish();
  EXPECT_EQ(series.steps, (std::vector<Series::Step>{{1, 4711, 1, 1, 1, 20, 50, 1050, 1000, 1},
                                                     {1, 4711, 2, 2, 1, 50, 1000, 1007, 1007, 0}}));
}

// There are more owners than curves. So the smallest owners share one curve.
TEST_F(SeriesTest, TheSmallestAreOneCurve) {
  constexpr uint32_t kOwners = 30;
  start(1, 4711);
  std::string records;
  std::vector<StreamEvent> list;
  uint64_t now = kStart;
  for (uint32_t number = 1; number <= kOwners; ++number) {
    records +=
        record(abi::DefinitionKind::String, raw(abi::StringDefinition{number, 0}) + "owner " + std::to_string(number));
    list.push_back(test::make<abi::OwnerPushEvent>(++now, {}, number, 0));
    list.push_back(test::alloc(++now, number << 8, number, kOne));
    list.push_back(test::make<abi::OwnerPopEvent>(++now, {}, 0, 0));
  }
  ASSERT_TRUE(writer->definitions(1, std::as_bytes(std::span(records))));
  events(list);
  end(1, 0, kStart + 1000);
  manifest();
  close();
  const Series series = finish();
  std::vector<Series::Curve> owners;
  for (const Series::Curve &curve : series.curves)
    if (curve.by == "owner")
      owners.push_back(curve);
  ASSERT_EQ(owners.size(), Series::kMostCurves + 1);
  EXPECT_EQ(owners.front().name, "owner 30");
  EXPECT_EQ(owners.back().name, "others");
  EXPECT_TRUE(owners.back().others);
  EXPECT_EQ(owners.back().bytes, Numbers{10 * 11 / 2});
  EXPECT_EQ(owners.back().peak_bytes, 10u * 11 / 2);
}

// At each moment, the series must equal a state of a live set while it applies the last event until that moment.
TEST_F(SeriesTest, IsTheLiveSetOfARunThatIsCutThere) {
  constexpr uint64_t kEnd = 100'000'000;
  std::vector<StreamEvent> list;
  test::RandomRun random(5);
  for (int i = 0; i < 3000; ++i) {
    StreamEvent event = random.next();
    for (abi::Slot &slot : std::span(event.event.slots).first(1))
      slot.header.time = kStart + 1000 * static_cast<uint64_t>(i + 1); // each event has a time of its own
    list.push_back(event);
  }
  for (uint32_t process = 1; process <= test::RandomRun::kProcesses; ++process)
    start(process, 4710 + process);
  events(list);
  for (uint32_t process = 1; process <= test::RandomRun::kProcesses; ++process)
    end(process, 0, kStart + kEnd);
  manifest();
  close();
  const Series series = finish();
  ASSERT_GT(series.moments.size(), 300u);
  EXPECT_LE(series.moments.size(), Series::kMostMoments);
  EXPECT_TRUE(std::is_sorted(series.moments.begin(), series.moments.end()));

  AccountSums sums;
  LiveSet live({&sums});
  auto next = list.begin();
  for (size_t at = 0; at < series.moments.size() && series.moments[at] < kEnd; ++at) {
    for (; next != list.end() && next->event.header().time <= kStart + series.moments[at]; ++next) {
      sums.states.clear();
      live.apply(*next, {});
    }
    AccountSums::State found;
    for (const Series::Curve &curve : series.curves)
      if (curve.by == "account" && curve.bytes.at(at) != 0)
        found[{*curve.heap, *curve.device}] = curve.bytes[at];
    ASSERT_NE(std::find(sums.states.begin(), sums.states.end(), found), sums.states.end())
        << "at " << series.moments[at];
  }

  const std::vector<uint64_t> total = curveOf(series, "total").bytes;
  for (const char *by : {"account", "owner", "type"})
    EXPECT_EQ(sumOf(series, by), total) << by;
  const Report whole = report();
  EXPECT_EQ(curveOf(series, "total").peak_bytes, whole.peak.bytes);
  for (const Series::Curve &curve : series.curves)
    EXPECT_EQ(curve.peak_bytes, *std::max_element(curve.bytes.begin(), curve.bytes.end()));
}

TEST_F(SeriesTest, HasThePeakOfEachAccountAmongItsMoments) {
  start(1, 4711);
  std::vector<StreamEvent> list;
  uint64_t now = kStart;
  // Each block is a local maximum. The history has no room for all of them, but must keep the one of device 2.
  for (uint64_t i = 1; i <= 140'000; ++i) {
    const uint8_t device = i == 34'567 ? 2 : 1;
    const Where where{.heap = abi::Heap::Device, .site = 1, .device = device};
    list.push_back(test::alloc(now += 10, i << 8, device == 2 ? 10 : 1000 + i % 97, where));
    list.push_back(test::free(now += 10, i << 8, where));
  }
  events(list);
  end(1, 0, now + 1000);
  manifest();
  close();
  const Series series = finish();
  EXPECT_LE(series.moments.size(), Series::kMostMoments);
  EXPECT_GT(series.moments.size(), Series::kMostMoments / 2);
  bool is_there = false;
  for (const Series::Curve &curve : series.curves)
    if (curve.by == "account" && curve.device == 2) {
      is_there = true;
      EXPECT_EQ(curve.peak_bytes, 10u);
      EXPECT_EQ(std::count(curve.bytes.begin(), curve.bytes.end(), 10u), 1);
    }
  EXPECT_TRUE(is_there);
}

TEST_F(SeriesTest, IsKeptWithTheRunAndExported) {
  start(1, 4711);
  events(smallRun());
  end(1, 0, kStart + 1000);
  manifest();
  close();
  const std::string computed = exported();
  EXPECT_FALSE(std::filesystem::exists(kept()));
  const Series series = finish();
  EXPECT_EQ(readText(kept()), computed);
  EXPECT_EQ(exported(), computed);
  const auto again = parseSeries(computed, "x");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, series);
  std::filesystem::remove(trace_file); // with the manifest alone, it is still a run folder
  EXPECT_EQ(exported(), computed) << "the events were read";
}

TEST_F(SeriesTest, AFileThatCannotBeReadIsAsGoodAsNone) {
  start(1, 4711);
  events(smallRun());
  end(1, 0, kStart + 1000);
  manifest();
  close();
  const std::string computed = exported();
  for (const char *text : {"", "{}", "[]", "{\"series_version\": 2}", "{\"series_version\": 1, \"moments\": 3}"}) {
    EXPECT_FALSE(parseSeries(text, "x")) << text;
    std::ofstream(kept()) << text;
    EXPECT_EQ(exported(), computed) << text;
  }
  EXPECT_FALSE(parseSeries(computed.substr(0, computed.size() / 2), "x"));
}

TEST_F(SeriesTest, AReportHasANoteWhereItCannotBeKept) {
  start(1, 4711);
  events(smallRun());
  end(1, 0, kStart + 1000);
  manifest();
  close();
  std::filesystem::create_directory(kept()); // a folder has the name of the series file
  const auto report = finishRun(run);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(std::count_if(report->notes.begin(), report->notes.end(),
                          [](const std::string &note) { return note.find(kSeriesFile) != std::string::npos; }),
            1);
}

TEST_F(SeriesTest, IsOnlyMadeWhereItIsAskedFor) {
  start(1, 4711);
  events(smallRun());
  end(1, 0, kStart + 1000);
  manifest();
  close();
  EXPECT_EQ(report().series, nullptr);
}

} // namespace msleaks::analysis
