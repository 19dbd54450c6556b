// Tests that a live set that continues from a checkpoint equals a live set that got all events: state and results.
#include "live_set_fixture.h"

#include "random_run.h"

#include "analysis/live/saved_fields.h"

#include <algorithm>
#include <fmt/format.h>
#include <sstream>
#include <vector>

namespace msleaks::analysis {
namespace {

std::vector<SiteNumber> numbersOf(const std::vector<SiteId> &sites) {
  std::vector<SiteNumber> numbers;
  for (const SiteId site : sites)
    numbers.push_back({1, site.index});
  return numbers;
}
SiteId siteOf(SiteNumber number) { return {number.number}; }

class Follower {
public:
  explicit Follower(const Labels &labels) { live.useLabels(labels); }
  void apply(const StreamEvent &event) { live.apply(event, SiteId{event.event.header().site}); }
  std::vector<uint8_t> saved(uint64_t time_ns) const {
    ByteWriter to;
    EXPECT_TRUE(live.save(time_ns, numbersOf, to));
    return {to.written().begin(), to.written().end()};
  }
  void load(uint64_t time_ns, std::span<const uint8_t> saved) { ASSERT_TRUE(live.load(time_ns, saved, siteOf)); }

  Journal journal;
  LiveSet live{{&journal}};
};

// Sorts the lines, because the blocks of an ended process are freed in no fixed order.
std::string sortedLines(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  std::string sorted;
  for (const std::string &line : lines)
    sorted += line + "\n";
  return sorted;
}

// Returns the position of the first difference.
size_t differsAt(const std::vector<uint8_t> &one, const std::vector<uint8_t> &other) {
  const auto at = std::mismatch(one.begin(), one.end(), other.begin(), other.end());
  return at.first == one.end() && at.second == other.end() ? SIZE_MAX : static_cast<size_t>(at.first - one.begin());
}

void expectSame(const LiveSet &one, const LiveSet &other) {
  EXPECT_EQ(one.liveBlocks(), other.liveBlocks());
  EXPECT_EQ(one.processes(), other.processes());
  one.forEach([&](const Block &block) {
    const Block *same = other.find(block.process, spaceOf(block.heap), block.address);
    if (block.device != 0)
      return; // if several devices have a block at this address, find() returns only the first
    ASSERT_NE(same, nullptr);
    EXPECT_EQ(std::tuple(same->size, same->time_ns, same->site, same->stream, same->heap, +same->refs, +same->reserve,
                         +same->handle),
              std::tuple(block.size, block.time_ns, block.site, block.stream, block.heap, +block.refs, +block.reserve,
                         +block.handle));
    const Cohort &was = one.cohorts()[block.cohort], &is = other.cohorts()[same->cohort];
    EXPECT_EQ(was, is);
  });
}

class CheckpointTest : public testing::TestWithParam<uint64_t> {
protected:
  void SetUp() override {
    const std::string records = test::RandomRun::labels().bytes;
    for (uint32_t process = 1; process <= test::RandomRun::kProcesses; ++process)
      labels.addDefinitions(process, test::bytesOf(records));
  }
  void endAll(Follower &follower, uint64_t time_ns) {
    for (uint32_t process = 1; process <= test::RandomRun::kProcesses; ++process) {
      follower.live.endProcess(process, FreeCause::ProcessExited, time_ns);
      ends += sortedLines(follower.journal.take());
    }
  }
  Labels labels;
  std::string ends;
};

} // namespace

TEST_P(CheckpointTest, GoesOnLikeTheOneThatSawAll) {
  test::RandomRun run(GetParam());
  Follower all(labels);
  for (int round = 0; round < 8 && !HasFatalFailure(); ++round) {
    for (int i = 0; i < 700; ++i)
      all.apply(run.next());
    const std::vector<uint8_t> saved = all.saved(run.now());
    Follower later(labels);
    later.load(run.now(), saved);
    ASSERT_EQ(later.journal.take(), "");
    ASSERT_EQ(differsAt(later.saved(run.now()), saved), SIZE_MAX);
    expectSame(all.live, later.live);
    all.journal.take();
    for (int i = 0; i < 700 && !HasFatalFailure(); ++i) {
      const StreamEvent event = run.next();
      all.apply(event);
      later.apply(event);
      ASSERT_EQ(later.journal.take(), all.journal.take());
    }
    ASSERT_EQ(differsAt(later.saved(run.now()), all.saved(run.now())), SIZE_MAX);
    if (round % 3 == 2) {
      endAll(all, run.now());
      const std::string expected = std::exchange(ends, {});
      endAll(later, run.now());
      ASSERT_EQ(std::exchange(ends, {}), expected);
      ASSERT_EQ(differsAt(later.saved(run.now()), all.saved(run.now())), SIZE_MAX);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, CheckpointTest, testing::Values(1, 2, 3, 4, 5, 6, 7, 8));

// docs/trace-format.md lists these fields. A change of the fields needs a higher kCheckpointVersion.
TEST_F(LiveSetTest, TheBytesOfACheckpointAreThese) {
  apply(test::alloc(5, 0x100, 40, {.site = 3}));
  apply(test::alloc(7, 0x180, 41,
                    {.stream = 2, .heap = abi::Heap::Device, .flags = abi::kDriver, .site = 3, .device = 1}));
  apply(test::alloc(8, 0x4000, 4096, {.heap = abi::Heap::Mapping, .flags = abi::kReserve}));
  apply(test::free(9, 0x100));
  apply(test::make<abi::StepEvent>(10, {}, 6, 0));
  ByteWriter to;
  ASSERT_TRUE(live.save(16, numbersOf, to));
  std::string hex;
  for (const uint8_t byte : to.written())
    hex += fmt::format("{:02x}", byte);
  std::string expected = "04 "                               // version
                         "03 01 00 00 00 00 00 00 00 00 00 " // counters
                         "00 00 "                            // pauses, labels
                         "01 01 03 "                         // sites: process, number
                         "02 01 01 02 02 01 00 00 " // cohorts: site, process, stream, heap, device, owner, phase
                         "00 01 00 01 00 00 00 "
                         "01 01 "                            // processes: number
                         "01 8006 29 12 01 0c "              // blocks: address, size, age, cohort, owners and flags
                         "01 808002 8020 10 02 09 00 00 00 " // mappings: the same fields, object, offset
                         "00 00 00 00 00 00 "                // shown, parked, device addresses, hidden, late and early
                         "00 00 "                            // objects; threads
                         "01 0a 06 01 00 ";                  // steps: time, number, process; marks
  std::erase(expected, ' ');
  EXPECT_EQ(hex, expected);
}

TEST_F(LiveSetTest, ACheckpointWithoutANumberForASiteIsNone) {
  apply(test::alloc(1, 0x10, 5, {.site = 3}));
  ByteWriter to;
  EXPECT_FALSE(live.save(1, [](const std::vector<SiteId> &) { return std::vector<SiteNumber>(); }, to));
  EXPECT_EQ(to.size(), 0u);
}

TEST_F(LiveSetTest, ACheckpointThatIsCutOrOfALaterVersionIsNone) {
  test::RandomRun run(9);
  for (int i = 0; i < 300; ++i)
    apply(run.next());
  ByteWriter to;
  ASSERT_TRUE(live.save(run.now(), numbersOf, to));
  const std::span<const uint8_t> saved = to.written();
  for (size_t bytes = 0; bytes < saved.size(); ++bytes) {
    LiveSet cut({});
    ASSERT_FALSE(cut.load(run.now(), saved.first(bytes), siteOf)) << bytes;
    ASSERT_EQ(cut.liveBlocks(), 0u);
    ASSERT_TRUE(cut.processes().empty());
  }
  std::vector<uint8_t> later(saved.begin(), saved.end());
  later[0] = kCheckpointVersion + 1;
  EXPECT_FALSE(LiveSet({}).load(run.now(), later, siteOf));
  later = {saved.begin(), saved.end()};
  later.push_back(0);
  EXPECT_FALSE(LiveSet({}).load(run.now(), later, siteOf));
  EXPECT_TRUE(LiveSet({}).load(run.now(), saved, siteOf));
}

// From thread kThreadsApart on, threads share cohorts. Each of their blocks still has its own thread.
TEST_F(LiveSetTest, ACheckpointHasTheThreadsThatShareCohorts) {
  apply(test::alloc(1, 0x100, 8, {.stream = kThreadsApart - 1}));
  ByteWriter without, with;
  ASSERT_TRUE(live.save(2, numbersOf, without));
  EXPECT_EQ(without.written()[0], kOldestCheckpoint);
  apply(test::alloc(2, 0x200, 8, {.stream = kThreadsApart + 7}));
  ASSERT_TRUE(live.save(3, numbersOf, with));
  EXPECT_EQ(with.written()[0], kSharedCohorts);
  LiveSet loaded({});
  ASSERT_TRUE(loaded.load(3, with.written(), siteOf));
  const Block *block = loaded.find(1, AddressSpace::Host, 0x200);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(block->stream, kThreadsApart + 7);
  EXPECT_EQ(loaded.cohorts()[block->cohort].stream, kOtherThreads);
}

} // namespace msleaks::analysis
