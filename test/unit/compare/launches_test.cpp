// launches_test.cpp: tests the launches and ranges of a run, and the comparison of two runs by them.
#include "analysis/compare/launch_difference.h"
#include "analysis/compare/msmemscope_comparison.h"

#include "../report/report_fixture.h"

#include <random>

namespace msleaks::analysis::compare {
namespace {

constexpr Where kGpu{.heap = abi::Heap::Device, .site = 1};
constexpr Where kOther{.heap = abi::Heap::Device, .site = 1, .device = 1};
constexpr Where kPool{.heap = abi::Heap::Pool, .site = 2};
// Each number is the handle of a kernel, and also the number of a label.
constexpr uint64_t kAdd = 1, kMul = 2, kForward = 3, kInner = 4;
constexpr uint64_t kNameless = 99;

class LaunchesTest : public ReportTest {
protected:
  void begin(uint32_t process = 1) {
    start(process, 4710 + process);
    std::string labels;
    uint32_t number = 0;
    for (const char *text : {"add", "mul", "forward", "inner"})
      labels += record(abi::DefinitionKind::String, raw(abi::StringDefinition{++number, 0}) + text);
    ASSERT_TRUE(writer->definitions(process, std::as_bytes(std::span(labels))));
  }
  // Ends all processes, and returns the launches.
  RunLaunches launchesOfRun(const std::vector<uint32_t> &processes = {1}) {
    for (const uint32_t process : processes)
      end(process, 0, kStart + kMs);
    manifest();
    close();
    auto launches = launchesOf(run, names);
    EXPECT_TRUE(launches) << launches.error().message;
    return launches ? *std::move(launches) : RunLaunches{};
  }
  RunLaunches launchesOfEvents(std::vector<StreamEvent> list, const std::vector<uint32_t> &processes = {1}) {
    std::vector<StreamEvent> all;
    for (const uint32_t process : processes) {
      begin(process);
      for (const uint64_t kernel : {kAdd, kMul})
        all.push_back(named(kernel, process));
    }
    all.insert(all.end(), list.begin(), list.end());
    events(all);
    return launchesOfRun(processes);
  }
  static StreamEvent named(uint64_t kernel, uint32_t process) {
    return test::make<abi::KernelEvent>(kStart, {.process = process}, kernel, kernel);
  }
  static StreamEvent launch(uint64_t at, uint64_t kernel, const Where &where = kGpu) {
    StreamEvent event = test::launch(kStart + at, 0, where);
    event.event.slots[0].payload[0] = kernel;
    return event;
  }
  static StreamEvent failed(uint64_t at, uint64_t kernel, const Where &where = kGpu) {
    return test::make<abi::FailedEvent>(kStart + at, where, kernel, 1);
  }
  static StreamEvent alloc(uint64_t at, uint64_t address, uint64_t size, const Where &where = kGpu) {
    return test::alloc(kStart + at, address, size, where);
  }
  static StreamEvent free(uint64_t at, uint64_t address, const Where &where = kGpu) {
    return test::free(kStart + at, address, where);
  }
  static StreamEvent push(uint64_t at, uint64_t label, uint64_t id = 0, uint32_t stream = 0) {
    return test::make<abi::RangeBeginEvent>(kStart + at, {.stream = stream}, label, id);
  }
  static StreamEvent pop(uint64_t at, uint64_t id = 0, uint32_t stream = 0) {
    return test::make<abi::RangeEndEvent>(kStart + at, {.stream = stream}, id, 0);
  }
  // Returns a text for each launch: sequence, name, bytes before and after it, peak bytes, and the next change.
  std::vector<std::string> textOf(const RunLaunches &launches) const {
    std::vector<std::string> lines;
    for (const LaunchSequence &sequence : launches.sequences)
      for (const Launch &launch : sequence.launches)
        lines.push_back((sequence.device ? std::to_string(*sequence.device) : "host") + "/" +
                        std::to_string(sequence.process) + (launch.is_range ? " range " : " ") + names[launch.name] +
                        " " + std::to_string(launch.before_bytes) + " " + std::to_string(launch.after_bytes) + " " +
                        std::to_string(launch.peak_bytes) + " next " + std::to_string(launch.next_bytes));
    return lines;
  }
  using Lines = std::vector<std::string>;
  NameTable names;
};

TEST_F(LaunchesTest, ALaunchLastsUntilTheNextOne) {
  EXPECT_EQ(textOf(launchesOfEvents({alloc(10, 0x10, 100), launch(20, kAdd), alloc(30, 0x20, 50), free(40, 0x20),
                                     alloc(50, 0x30, 7), launch(60, kMul), free(70, 0x10), launch(80, kAdd)})),
            (Lines{"0/0 add 100 107 150 next 50", "0/0 mul 107 7 107 next -100", "0/0 add 7 7 7 next 0"}));
}

TEST_F(LaunchesTest, EachDeviceHasItsOwn) {
  EXPECT_EQ(textOf(launchesOfEvents({alloc(10, 0x10, 100), launch(20, kAdd, kOther), launch(21, kMul),
                                     alloc(30, 0x20, 5, kOther), alloc(40, 0x30, 3)})),
            (Lines{"0/0 mul 100 103 103 next 3", "1/0 add 0 5 5 next 5"}));
}

TEST_F(LaunchesTest, RangesAreOnTheHostAndOnEachDevice) {
  EXPECT_EQ(textOf(launchesOfEvents({test::alloc(kStart + 5, 0x5, 1000, kOne), push(10, kForward), push(20, kInner),
                                     alloc(30, 0x10, 100), launch(40, kAdd), test::alloc(kStart + 50, 0x6, 24, kOne),
                                     test::free(kStart + 51, 0x6, kOne), pop(60), free(70, 0x10), pop(80)})),
            (Lines{"host/0 range forward 1000 1000 1024 next 24", "host/0 range inner 1000 1000 1024 next 24",
                   "0/0 range forward 0 0 100 next 100", "0/0 range inner 0 100 100 next 100",
                   "0/0 add 100 0 100 next -100"}));
}

TEST_F(LaunchesTest, ARangeWithANumberMayEndInAnotherThread) {
  EXPECT_EQ(
      textOf(launchesOfEvents({push(10, kForward, 7), push(20, kInner, 0, 1), test::alloc(kStart + 30, 0x5, 8, kOne),
                               pop(40, 7, 1), test::alloc(kStart + 50, 0x6, 8, kOne), pop(60, 0, 0), pop(70, 0, 1)})),
      (Lines{"host/0 range forward 0 8 8 next 8", "host/0 range inner 0 16 16 next 8"}));
}

TEST_F(LaunchesTest, PartsOfAPoolCountInsteadOfItsSegment) {
  EXPECT_EQ(textOf(launchesOfEvents({launch(10, kAdd), alloc(20, 0x1000, 4096), alloc(21, 0x1000, 512, kPool),
                                     alloc(22, 0x1200, 256, kPool), free(23, 0x1000, kPool), launch(30, kMul),
                                     free(40, 0x1200, kPool), free(41, 0x1000), launch(50, kAdd)})),
            (Lines{"0/0 add 0 256 768 next 512", "0/0 mul 256 0 256 next -256", "0/0 add 0 0 0 next 0"}));
}

TEST_F(LaunchesTest, ASegmentThatWasThereBeforeItsPartsNoLongerCounts) {
  EXPECT_EQ(textOf(launchesOfEvents({alloc(10, 0x1000, 4096), launch(20, kAdd), alloc(21, 0x1000, 512, kPool)})),
            (Lines{"0/0 add 4096 512 4096 next 512"}));
}

TEST_F(LaunchesTest, ARefusedLaunchIsNone) {
  EXPECT_EQ(textOf(launchesOfEvents(
                {launch(10, kAdd), launch(20, kMul), failed(21, kMul), launch(30, kAdd), failed(31, kMul)})),
            (Lines{"0/0 add 0 0 0 next 0", "0/0 add 0 0 0 next 0"}));
}

TEST_F(LaunchesTest, ANamelessKernelHasTheNameOfItsLauncher) {
  const auto lines =
      textOf(launchesOfEvents({launch(10, kNameless), launch(20, kNameless, {.heap = abi::Heap::Device})}));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(lines[0].starts_with("0/0 (launched by ")) << lines[0];
  EXPECT_EQ(lines[1], "0/0 (no name) 0 0 0 next 0");
}

TEST_F(LaunchesTest, EachProcessHasItsOwn) {
  Where second = kGpu;
  second.process = 2;
  EXPECT_EQ(textOf(launchesOfEvents({launch(10, kAdd), alloc(11, 0x10, 5), launch(12, kMul, second),
                                     alloc(13, 0x10, 9, second), launch(14, kMul)},
                                    {1, 2})),
            (Lines{"0/0 add 0 5 5 next 5", "0/0 mul 5 5 5 next 0", "0/1 mul 0 9 9 next 9"}));
}

// Ranges may overlap in any way. The peak of each must be the largest number of bytes between its begin and its end.
TEST_F(LaunchesTest, PeaksOfOverlappingRanges) {
  std::mt19937 random(3);
  std::vector<StreamEvent> list;
  struct Naive {
    uint64_t before, after = 0, peak;
    bool open = true;
  };
  std::vector<Naive> expected;
  std::vector<uint64_t> open, blocks;
  uint64_t bytes = 0, at = 0, last_id = 0, last_address = 0;
  std::map<uint64_t, uint64_t> sizes;
  for (int round = 0; round < 4000; ++round) {
    ++at;
    switch (random() % 4) {
    case 0:
      open.push_back(++last_id);
      expected.push_back({bytes, 0, bytes});
      list.push_back(push(at, kForward, last_id));
      break;
    case 1:
      if (!open.empty()) {
        const size_t which = random() % open.size();
        list.push_back(pop(at, open[which]));
        expected[open[which] - 1].after = bytes;
        expected[open[which] - 1].open = false;
        open.erase(open.begin() + static_cast<ptrdiff_t>(which));
      }
      break;
    case 2:
      blocks.push_back(last_address += 0x1000);
      sizes[last_address] = 1 + random() % 900;
      bytes += sizes[last_address];
      list.push_back(test::alloc(kStart + at, last_address, sizes[last_address], kOne));
      break;
    default:
      if (!blocks.empty()) {
        std::swap(blocks[random() % blocks.size()], blocks.back());
        bytes -= sizes[blocks.back()];
        list.push_back(test::free(kStart + at, blocks.back(), kOne));
        blocks.pop_back();
      }
    }
    for (Naive &range : expected)
      if (range.open)
        range.peak = std::max(range.peak, bytes);
  }
  for (Naive &range : expected)
    if (range.open)
      range.after = bytes; // the process ends
  const RunLaunches launches = launchesOfEvents(list);
  ASSERT_EQ(launches.sequences.size(), 1u);
  ASSERT_EQ(launches.sequences[0].launches.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const Launch &range = launches.sequences[0].launches[i];
    ASSERT_EQ(range.before_bytes, expected[i].before) << i;
    ASSERT_EQ(range.after_bytes, expected[i].after) << i;
    ASSERT_EQ(range.peak_bytes, expected[i].peak) << i;
  }
}

TEST_F(LaunchesTest, ARunWithoutLaunchesHasNone) {
  EXPECT_TRUE(launchesOfEvents({test::alloc(kStart + 5, 0x5, 1000, kOne)}).sequences.empty());
  EXPECT_FALSE(launchesOf(base / "missing", names));
}

TEST_F(LaunchesTest, AsADumpOfMsmemscope) {
  Where second = kGpu;
  second.process = 2;
  const RunLaunches launches =
      launchesOfEvents({push(5, kForward), launch(10, kAdd), alloc(11, 0x10, 5), free(12, 0x10), launch(13, kMul),
                        free(14, 0x10), launch(15, kAdd, second), pop(20)},
                       {1, 2});
  const auto rowsOf = [&](DumpLevel level) {
    const MsmemscopeDump dump = dumpOf(launches, level);
    return msmemscopeTable(compareAsMsmemscope(dump, dump), level, names);
  };
  EXPECT_TRUE(rowsOf(DumpLevel::Kernel)
                  .ends_with("KERNEL_LAUNCH,add,0,5,5,0\nKERNEL_LAUNCH,mul,0,N/A,N/A,0\n"
                             "KERNEL_LAUNCH,add,0,N/A,N/A,0\n"));
  EXPECT_TRUE(rowsOf(DumpLevel::Operator).ends_with("OP_LAUNCH,forward,0,5,5,0\nOP_LAUNCH,forward,cpu,N/A,N/A,0\n"));
}

// -- the comparison of two runs --

Launch made(uint32_t name, uint64_t before, uint64_t after, uint64_t peak) {
  return {name, false, before, after, peak, 0};
}

TEST(LaunchDifference, OnlyWhatALaunchItselfDoesDiffers) {
  NameTable names;
  const uint32_t add = names.numberOf("add"), mul = names.numberOf("mul"), sub = names.numberOf("sub");
  const RunLaunches first{{{0, 0, {made(add, 0, 10, 10), made(mul, 10, 10, 12), made(sub, 10, 0, 10)}}}, {}};
  const RunLaunches second{{{0, 0, {made(add, 0, 30, 30), made(mul, 30, 30, 32), made(mul, 30, 35, 35)}}}, {}};
  const LaunchDifferences differences = compareLaunches(first, second);
  EXPECT_EQ(differences.same, 1u); // the first `mul` of each run: only the memory before it differs
  EXPECT_EQ(differences.changed, 1u);
  EXPECT_EQ(differences.added, 1u);
  EXPECT_EQ(differences.gone, 1u);
  EXPECT_EQ(differences.change_bytes, 20 + 10 + 5); // the second run lacks `sub`, which frees 10 bytes
  EXPECT_EQ(launchesJson(differences, names), nlohmann::ordered_json::parse(R"([
    {"name": "add", "kind": "launch", "device": 0, "process": 0, "before": {"before_bytes": 0, "after_bytes": 10, "peak_bytes": 10},
     "after": {"before_bytes": 0, "after_bytes": 30, "peak_bytes": 30}, "state": "changed"},
    {"name": "sub", "kind": "launch", "device": 0, "process": 0, "before": {"before_bytes": 10, "after_bytes": 0, "peak_bytes": 10},
     "after": null, "state": "gone"},
    {"name": "mul", "kind": "launch", "device": 0, "process": 0, "before": null,
     "after": {"before_bytes": 30, "after_bytes": 35, "peak_bytes": 35}, "state": "new"}])"));
  EXPECT_EQ(launchCountsJson(differences),
            nlohmann::ordered_json::parse(
                R"({"same": 1, "changed": 1, "new": 1, "gone": 1, "change_bytes": 35, "coarse": false})"));
}

TEST(LaunchDifference, ADifferingLaunchIsShownWithItsNeighbours) {
  NameTable names;
  const uint32_t add = names.numberOf("add"), mul = names.numberOf("mul");
  std::vector<Launch> before(21, made(add, 0, 1, 1));
  std::vector<Launch> after = before;
  before[10] = made(mul, 0, 5, 5);
  after[10] = made(mul, 0, 6, 6);
  const LaunchDifferences differences = compareLaunches({{{0, 0, before}}, {}}, {{{0, 0, after}}, {}});
  ASSERT_EQ(differences.aligned.size(), 7u) << "three neighbours on each side";
  EXPECT_EQ(differences.aligned.front().same_before, 7u);
  EXPECT_EQ(differences.aligned.back().same_after, 7u);
  for (size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(differences.aligned[i].name, i == 3 ? mul : add);
    EXPECT_EQ(differences.aligned[i].state, i == 3 ? LaunchState::Changed : LaunchState::Same);
    EXPECT_EQ(differences.aligned[i].after->after_bytes, i == 3 ? 6u : 1u);
  }
}

TEST(LaunchDifference, NeighboursOfTwoLaunchesAreShownOnce) {
  NameTable names;
  const uint32_t add = names.numberOf("add"), mul = names.numberOf("mul");
  std::vector<Launch> before(9, made(add, 0, 1, 1));
  std::vector<Launch> after = before;
  before[2] = before[6] = made(mul, 0, 5, 5);
  after[2] = after[6] = made(mul, 0, 6, 6);
  const LaunchDifferences differences = compareLaunches({{{0, 0, before}}, {}}, {{{0, 0, after}}, {}});
  EXPECT_EQ(differences.aligned.size(), 9u);
  for (const AlignedLaunch &launch : differences.aligned)
    EXPECT_EQ(launch.same_before + launch.same_after, 0u);
}

TEST(LaunchDifference, TheListOfAlignedLaunchesIsBounded) {
  NameTable names;
  const uint32_t add = names.numberOf("add");
  const std::vector<Launch> before(5000, made(add, 0, 1, 1)), after(5000, made(add, 0, 2, 2));
  const LaunchDifferences differences = compareLaunches({{{0, 0, before}}, {}}, {{{0, 0, after}}, {}});
  EXPECT_EQ(differences.aligned.size(), LaunchDifferences::kMostAligned);
  EXPECT_EQ(differences.differing_left_out, 5000 - LaunchDifferences::kMostAligned);
}

TEST(LaunchDifference, ARunDiffersNotFromItself) {
  NameTable names;
  const RunLaunches run{{{std::nullopt, 0, {made(names.numberOf("a"), 0, UINT64_MAX, UINT64_MAX)}},
                         {0, 0, {made(names.numberOf("b"), 7, 0, 7)}},
                         {0, 1, {made(names.numberOf("b"), 7, 0, 7)}}},
                        {}};
  const LaunchDifferences differences = compareLaunches(run, run);
  EXPECT_TRUE(differences.differing.empty());
  EXPECT_EQ(differences.same, 3u);
  EXPECT_EQ(differences.change_bytes, 0);
}

TEST(LaunchDifference, SequencesOfOneRunOnlyAreNewOrGone) {
  NameTable names;
  const uint32_t add = names.numberOf("add");
  const RunLaunches first{{{0, 0, {made(add, 0, 1, 1)}}, {1, 0, {made(add, 0, 1, 1)}}}, {}};
  const RunLaunches second{{{0, 0, {made(add, 0, 1, 1)}}, {0, 1, {made(add, 0, 2, 2)}}}, {}};
  const LaunchDifferences differences = compareLaunches(first, second);
  EXPECT_EQ(differences.same, 1u);
  EXPECT_EQ(differences.added, 1u);
  EXPECT_EQ(differences.gone, 1u);
  EXPECT_EQ(differences.change_bytes, 2 - 1);
}

TEST(LaunchDifference, ARangeIsNoLaunchOfTheSameName) {
  NameTable names;
  Launch range = made(names.numberOf("step"), 0, 8, 8);
  range.is_range = true;
  const RunLaunches first{{{0, 0, {range}}}, {}}, second{{{0, 0, {made(range.name, 0, 8, 8)}}}, {}};
  const LaunchDifferences differences = compareLaunches(first, second);
  EXPECT_EQ(differences.same, 0u);
  EXPECT_EQ(differences.change_bytes, 8); // the range of the first run does not count
}

} // namespace
} // namespace msleaks::analysis::compare
