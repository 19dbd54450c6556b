// Tests the live blocks that are computed while a run still grows.
#include "watch_fixture.h"

#include <fstream>
#include <gmock/gmock.h>
#include <sys/wait.h>

namespace msleaks::analysis {
namespace {

using testing::HasSubstr;

const Where kWeights{.site = 1}, kOther{.site = 2}, kDevice{.heap = abi::Heap::Device, .site = 1},
    kPool{.heap = abi::Heap::Pool, .site = 1};

TEST_F(WatchTest, TakesWhatIsCompleteStepByStep) {
  const auto live = watch();
  takeAll(*live);
  EXPECT_EQ(live->frame().events, 0u);
  start(1, 4711);
  grow({test::alloc(kStart + 100, 0x10, 1000, kWeights), test::alloc(kStart + 200, 0x20, 500, kOther)}, kStart + 150);
  takeAll(*live);
  Frame frame = live->frame();
  EXPECT_EQ(frame.events, 1u);
  EXPECT_EQ(frame.now, (BlockSum{1000, 1}));
  ASSERT_EQ(frame.processes.size(), 1u);
  EXPECT_EQ(frame.processes[0].pid, 4711u);
  EXPECT_EQ(frame.processes[0].command, "net");
  EXPECT_EQ(frame.processes[0].now, (BlockSum{1000, 1}));
  grow({test::free(kStart + 300, 0x10, kWeights)}, kStart + 1000);
  takeAll(*live);
  frame = live->frame();
  EXPECT_EQ(frame.now, (BlockSum{500, 1}));
  EXPECT_EQ(frame.peak_bytes, 1500u);
  EXPECT_EQ(frame.peak_time_ns, 200u);
  EXPECT_EQ(frame.state, WatchState::Running);
}

TEST_F(WatchTest, RowsAreOfPlaces) {
  start(1, 4711);
  grow({test::alloc(kStart + 100, 0x10, 1000, kWeights), test::alloc(kStart + 110, 0x20, 30, kWeights),
        test::alloc(kStart + 120, 0x30, 70, kDevice), test::alloc(kStart + 130, 0x12, 9, kPool),
        test::alloc(kStart + 140, 0x40, 5000, kOther), test::free(kStart + 150, 0x40, kOther)},
       kStart + 1000);
  const auto live = watch();
  takeAll(*live);
  const Frame frame = live->frame();
  const FrameRow *weights = rowAt(frame, 12);
  ASSERT_TRUE(weights);
  EXPECT_EQ(weights->now, (BlockSum{1100, 3})); // without the pool's blocks, which are parts of other blocks
  EXPECT_EQ(weights->at_peak, (BlockSum{1100, 3}));
  EXPECT_EQ(frame.rows.front().site->line, 12u);
  EXPECT_EQ(frame.rows.size(), 2u); // places of the peak are shown, too
  EXPECT_EQ(frame.rows.back().now.count, 0u);
  ASSERT_EQ(frame.heaps.size(), 3u);
  EXPECT_EQ(frame.heaps[1].heap, abi::Heap::Device);
  EXPECT_EQ(frame.heaps[1].now, (BlockSum{70, 1}));

  const Frame split = live->frame({.by_process = true, .by_heap = true});
  ASSERT_EQ(split.rows.size(), 4u);
  EXPECT_EQ(split.rows[0].process, 1u);
  EXPECT_EQ(split.rows[0].heap, abi::Heap::Host);
  EXPECT_EQ(split.rows[1].heap, abi::Heap::Device);
}

TEST_F(WatchTest, GrowthCountsFromTheMoment) {
  start(1, 4711);
  grow({test::alloc(kStart + 100, 0x10, 1000, kWeights)}, kStart + 1000);
  const auto live = watch();
  takeAll(*live);
  EXPECT_EQ(rowAt(live->frame(), 12)->grownBytes(), 1000);
  live->setMoment();
  EXPECT_EQ(live->frame().moment_ns, 1000u);
  grow({test::alloc(kStart + 2000, 0x20, 24, kWeights), test::free(kStart + 2100, 0x10, kWeights)}, kStart + 3000);
  takeAll(*live);
  EXPECT_EQ(rowAt(live->frame(), 12)->grownBytes(), 24 - 1000);
  EXPECT_EQ(rowAt(live->frame(), 12)->grownCount(), 0);
}

TEST_F(WatchTest, ABlockOfTheMomentTakesItsGrowthToItsNewPlace) {
  start(1, 4711);
  grow({test::alloc(kStart + 100, 0x10, 1000, kOther)}, kStart + 1000);
  const auto live = watch();
  takeAll(*live);
  live->setMoment();
  grow({test::retarget(kStart + 2000, 0x10, kWeights)}, kStart + 3000);
  takeAll(*live);
  const Frame frame = live->frame();
  ASSERT_TRUE(rowAt(frame, 12));
  EXPECT_EQ(rowAt(frame, 12)->now, (BlockSum{1000, 1}));
  EXPECT_EQ(rowAt(frame, 12)->grownBytes(), 0);
}

TEST_F(WatchTest, TheLastProcessKeepsWhatItHad) {
  start(1, 4711);
  start(2, 4712);
  grow(
      {test::alloc(kStart + 100, 0x10, 1000, kWeights), test::alloc(kStart + 200, 0x10, 64, {.process = 2, .site = 1})},
      kStart + 300);
  end(2, 0, kStart + 400);
  grow({test::alloc(kStart + 1'000'000, 0x20, 1, kWeights)}, kStart + 2'000'000);
  const auto live = watch();
  takeAll(*live);
  EXPECT_EQ(live->frame().now, (BlockSum{1001, 2}));
  EXPECT_EQ(live->frame().ended_processes, 1u);
  end(1, 0, kStart + 3'000'000);
  manifest();
  close();
  takeAll(*live);
  takeAll(*live);
  const Frame frame = live->frame();
  EXPECT_EQ(frame.state, WatchState::Ended);
  EXPECT_EQ(frame.now, (BlockSum{1001, 2}));
  ASSERT_EQ(frame.processes.size(), 1u);
  EXPECT_FALSE(frame.processes[0].running);
}

TEST_F(WatchTest, AnExecEndsTheImageBeforeIt) {
  start(1, 4711);
  grow({test::alloc(kStart + 100, 0x10, 1000, kWeights)}, kStart + 300);
  ASSERT_TRUE(writer->processStart({2, 4711, 1, kStart + 1'000'000, 0, {"/bin/other"}}));
  grow({test::alloc(kStart + 1'000'100, 0x10, 7, {.process = 2})}, kStart + 2'000'000);
  const auto live = watch();
  takeAll(*live);
  const Frame frame = live->frame();
  EXPECT_EQ(frame.now, (BlockSum{7, 1}));
  ASSERT_EQ(frame.processes.size(), 1u);
  EXPECT_EQ(frame.processes[0].command, "other");
}

TEST_F(WatchTest, CatchesUpInStepsThatAreAskedFor) {
  start(1, 4711);
  std::vector<StreamEvent> list;
  for (uint64_t i = 1; i <= 300; ++i)
    list.push_back(test::alloc(kStart + i, i * 16, 8, kWeights));
  grow(list, kStart + 1000);
  const auto live = watch();
  const auto first = live->advance(1);
  ASSERT_TRUE(first);
  EXPECT_GE(*first, 1u);
  EXPECT_TRUE(live->isBehind());
  takeAll(*live);
  EXPECT_FALSE(live->isBehind());
  EXPECT_EQ(live->frame().now, (BlockSum{8 * 300, 300}));
}

TEST_F(WatchTest, PlacesWithoutTimeForTheirNamesAreOneRow) {
  start(1, 4711);
  grow({test::alloc(kStart + 100, 0x10, 1000, kWeights), test::alloc(kStart + 200, 0x20, 10, kOther),
        test::alloc(kStart + 300, 0x30, 1)},
       kStart + 1000);
  const auto live = watch();
  takeAll(*live);
  const Frame hasty = live->frame({}, 0); // looks up at least one batch of names, so that every frame makes progress
  ASSERT_EQ(hasty.rows.size(), 2u);
  EXPECT_TRUE(rowAt(hasty, 12));
  EXPECT_FALSE(hasty.rows[1].site);
  EXPECT_EQ(hasty.rows[1].now, (BlockSum{11, 2}));
  EXPECT_EQ(live->frame().rows.size(), 3u);
}

TEST_F(WatchTest, ATraceThatIsCutOrGoneIsAnError) {
  start(1, 4711);
  grow({test::alloc(kStart + 100, 0x10, 1000, kWeights)}, kStart + 300);
  const auto live = watch(), other = watch();
  takeAll(*live);
  takeAll(*other);
  std::filesystem::resize_file(trace_file, 40);
  const auto cut = live->advance();
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().status, ExitStatus::BadInput);
  EXPECT_THAT(cut.error().message, HasSubstr("cut short"));
  std::filesystem::remove(trace_file);
  EXPECT_FALSE(other->advance());
  EXPECT_FALSE(other->advance()) << "it stays so";
}

// Another file replaces the trace file, with the same name. The watcher must not show the run of this other file.
TEST_F(WatchTest, ATraceThatWasReplacedIsAnError) {
  start(1, 4711);
  grow({test::alloc(kStart + 100, 0x10, 1000, kWeights)}, kStart + 300);
  const auto live = watch();
  takeAll(*live);
  const auto copy = base / "copy";
  std::filesystem::copy_file(trace_file, copy);
  std::filesystem::rename(copy, trace_file);
  const auto replaced = live->advance();
  ASSERT_FALSE(replaced);
  EXPECT_EQ(replaced.error().status, ExitStatus::BadInput);
  EXPECT_THAT(replaced.error().message, HasSubstr("replaced"));
}

TEST_F(WatchTest, TextFitsAndIsPrintable) {
  start(1, 4711);
  grow({test::alloc(kStart + 100, 0x10, 1000, kWeights)}, kStart + 300);
  manifest("running");
  const auto live = watch();
  takeAll(*live);
  Frame frame = live->frame();
  frame.command = {"evil\x1b[2J", "\xff"};
  for (size_t columns = 20; columns <= 120; ++columns)
    for (const FrameSort sort : {FrameSort::Bytes, FrameSort::Growth, FrameSort::Count, FrameSort::Peak}) {
      const FrameStyle style{columns, sort, {columns % 2 == 0, columns % 3 == 0}};
      std::vector<std::string> lines = headOf(frame, style);
      lines.push_back(headingsOf(style));
      for (const FrameRow &row : frame.rows)
        lines.push_back(lineOf(frame, row, style));
      for (const std::string &line : lines) {
        EXPECT_LE(line.size(), columns) << line;
        EXPECT_EQ(line.find('\x1b'), std::string::npos);
      }
    }
  EXPECT_THAT(lineOf(frame, frame.rows[0], {20, FrameSort::Bytes, {}}), HasSubstr("net.cpp:12"));
  EXPECT_THAT(lineOf(frame, frame.rows[0], {}), HasSubstr("src/net.cpp:12:7 in net::grow"));
}

TEST_F(WatchTest, ProgramsGetAllOfIt) {
  start(1, 4711);
  grow({test::alloc(kStart + 100, 0x10, 1000, kWeights), test::alloc(kStart + 200, 0x20, 9, kDevice),
        test::make<abi::StepEvent>(kStart + 250, kWeights, 3, 0)},
       kStart + 300);
  const auto live = watch();
  takeAll(*live);
  const json object = json::parse(jsonOf(live->frame({true, true}), "RUN"));
  EXPECT_EQ(object["state"], "running");
  EXPECT_EQ(object["alive"]["bytes"], 1009);
  EXPECT_EQ(object["events"], 3);
  EXPECT_EQ(object["step"], 3);
  ASSERT_EQ(object["rows"].size(), 2u);
  EXPECT_EQ(object["rows"][0]["pid"], 4711);
  EXPECT_EQ(object["rows"][0]["heap"], "host");
  EXPECT_EQ(object["rows"][1]["heap"], "device");
}

// At every moment, the frame must equal the live set of the same events.
TEST_F(WatchTest, GrowsByChanceAsTheWholeDoes) {
  start(1, 4711);
  const auto live = watch();
  std::map<uint64_t, uint64_t> alive;
  uint64_t now_ns = kStart, peak = 0, bytes = 0, seed = 1;
  for (int step = 0; step < 200; ++step) {
    std::vector<StreamEvent> list;
    for (int i = 0; i < 20; ++i) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      const uint64_t address = (seed >> 33) % 50 * 64 + 64, size = (seed >> 20) % 1000;
      const Where where{.site = static_cast<uint32_t>(1 + (seed >> 50) % 3)};
      ++now_ns;
      if (alive.contains(address)) {
        list.push_back(test::free(now_ns, address, where));
        bytes -= alive[address];
        alive.erase(address);
      } else {
        list.push_back(test::alloc(now_ns, address, size, where));
        alive[address] = size;
        peak = std::max(peak, bytes += size);
      }
    }
    grow(list, now_ns + 1);
    takeAll(*live);
    const Frame frame = live->frame();
    ASSERT_EQ(frame.now, (BlockSum{bytes, alive.size()}));
    ASSERT_EQ(frame.peak_bytes, peak);
    BlockSum rows;
    for (const FrameRow &row : frame.rows)
      rows += row.now;
    ASSERT_EQ(rows, frame.now);
  }
}

} // namespace
} // namespace msleaks::analysis
