// Tests the ledger: the table that shows what the memory of the host and of each device consists of.
#include "report_fixture.h"

#include "msleaks/abi/sampled_block.h"

namespace msleaks::analysis {
namespace {

constexpr int64_t kMebi = 1 << 20; // signed, because the ledger subtracts
constexpr Where kHostSegment{.site = 1};
constexpr Where kClosed{.flags = abi::kFromHook, .site = abi::kCallerSite | 1};

class LedgerTest : public ReportTest {
protected:
  static StreamEvent at(uint64_t ms, uint64_t address, uint64_t bytes, const Where &where) {
    return bytes == 0 ? test::free(kStart + ms * kMs, address, where)
                      : test::alloc(kStart + ms * kMs, address, bytes, where);
  }
  static Where in(uint32_t process, Where where) {
    where.process = process;
    return where;
  }
  void begin(uint32_t process, uint32_t pid) {
    start(process, pid);
    abi::ImageDefinition closed{};
    closed.image = 3;
    const std::string image = record(abi::DefinitionKind::Image, raw(closed) + "/usr/lib/libclosed.so.1");
    ASSERT_TRUE(writer->definitions(process, std::as_bytes(std::span(image))));
    const TraceWriter::CallerEntry callers[] = {{1, 3, 0x9010}};
    ASSERT_TRUE(writer->callers(process, callers));
  }
  void sample(uint32_t process, uint64_t ms, int64_t resident, int64_t file, int64_t shared, int64_t recorder) {
    const ResidentSample samples[] = {{process, kStart + ms * kMs, static_cast<uint64_t>(resident),
                                       static_cast<uint64_t>(file), static_cast<uint64_t>(shared),
                                       static_cast<uint64_t>(recorder)}};
    ASSERT_TRUE(writer->resident(samples));
  }
  // A look of the collector: at a part of malloc's heap, or at the data of images.
  static StreamEvent looked(uint64_t ms, uint64_t resident, uint64_t bits, uint64_t parts_that_follow = 0) {
    abi::PagesEvent pages{};
    pages.header = {abi::EventKind::Pages, abi::Heap::Host, 0, 0, 0, kStart + ms * kMs};
    pages.address = uint64_t{1} << 40;
    pages.size = resident;
    pages.continuation = abi::kContinuationTag;
    pages.allocated_ns = parts_that_follow;
    pages.touched = resident;
    pages.at_exit = bits | 12 << abi::kPageShiftBit;
    return {1, abi::kCollectorStream, abi::AnyEvent::from(pages)};
  }
  json finish() {
    manifest();
    close();
    const json report = asJson();
    for (const json &line : report["ledger"])
      all_[{line["device"].is_null() ? -1 : line["device"].get<int>(), line["source"]}] = {line["at_peak_bytes"],
                                                                                           line["bytes"]};
    return report;
  }
  // The bytes of one line of the ledger, at the peak and at the end.
  using Both = std::pair<int64_t, int64_t>;
  Both of(const std::string &source, int device = -1) const {
    const auto found = all_.find({device, source});
    return found == all_.end() ? Both{0, 0} : found->second;
  }
  Both sumOf(int device) const {
    Both sum;
    for (const auto &[key, bytes] : all_)
      if (key.first == device)
        sum = {sum.first + bytes.first, sum.second + bytes.second};
    return sum;
  }

private:
  std::map<std::pair<int, std::string>, Both> all_;
};

using Both = std::pair<int64_t, int64_t>;

} // namespace

// The large block is a mapping of its own, and no part of malloc's heap. The peak is at 3 ms.
TEST_F(LedgerTest, HasTheFreeMemoryOfMallocAndTheDataOfImages) {
  begin(1, 4711);
  events({at(1, 0x10'0010, kMebi, kTwo), at(2, 0x20'0230, 100'000, kTwo), at(3, 0x40'0230, 50'000, kTwo),
          looked(4, 300'000, abi::kPagesOfHeap, 1), looked(4, 100'000, abi::kPagesOfHeap | abi::kPagesOfArena),
          looked(4, 70'000, abi::kPagesOfImages), at(5, 0x20'0230, 0, kTwo), looked(6, 390'000, abi::kPagesOfHeap),
          looked(6, 80'000, abi::kPagesOfImages)});
  sample(1, 3, 4 * kMebi, kMebi, 0, 0);
  sample(1, 7, 3 * kMebi, kMebi, 0, 0);
  end(1, 0, kStart + 1000 * kMs);
  finish();
  constexpr int64_t kFirst = 100'016, kSecond = 50'016; // what malloc takes for these blocks
  EXPECT_EQ(of("allocator-free"), Both(400'000 - kFirst - kSecond, 390'000 - kSecond));
  EXPECT_EQ(of("image-data"), Both(70'000, 80'000));
  EXPECT_EQ(of("allocator"), Both(4096 + 32, 4096 + 16));
  EXPECT_EQ(sumOf(-1), Both(4 * kMebi, 3 * kMebi));
}

TEST_F(LedgerTest, IsWhatIsResidentLineByLine) {
  begin(1, 4711);
  events({at(1, 0x100000, kMebi, kHostSegment), at(2, 0x100000, 300'000, kPart), at(3, 0x180000, 100'000, kPart),
          at(4, 0x40, 40, kTwo), at(5, 0x80, 1000, kClosed), at(6, 0x200, 500, kTwo), at(7, 0x200, 0, kTwo),
          at(8, 0x180000, 0, kPart)});
  sample(1, 6, 10 * kMebi, 5 * kMebi, 3 * kMebi, 2 * kMebi);
  sample(1, 500, 6 * kMebi, 2 * kMebi, 0, kMebi);
  end(1, 0, kStart + 1000 * kMs);
  const json report = finish();
  EXPECT_EQ(report["peak"]["resident_bytes"], 10 * kMebi);
  EXPECT_EQ(sumOf(-1), Both(10 * kMebi, 6 * kMebi));
  EXPECT_EQ(of("blocks"), Both(540, 40));
  EXPECT_EQ(of("closed-library"), Both(1000, 1000));
  EXPECT_EQ(of("pool-used"), Both(400'000, 300'000));
  EXPECT_EQ(of("pool-free"), Both(kMebi - 400'000, kMebi - 300'000));
  // The allocator uses more than the requested sizes: one page for the mapping of 1 MiB, and 8, 8 and 12 bytes for the
  // chunks.
  EXPECT_EQ(of("allocator"), Both(4096 + 8 + 8 + 12, 4096 + 8 + 8));
  EXPECT_EQ(of("recorder"), Both(2 * kMebi, kMebi)) << "in shared memory, then in a file";
  EXPECT_EQ(of("file-backed"), Both(2 * kMebi, kMebi));
  EXPECT_EQ(of("not-resident"), Both(0, 0));
  EXPECT_EQ(of("unattributed"), Both(5 * kMebi - 540 - 1000 - 4124, 3 * kMebi - 40 - 1000 - 4112));
  EXPECT_EQ(report["ledger"][0]["source"], "blocks");
  EXPECT_NE(asTable(120).find("Ledger: what the memory is made of"), std::string::npos) << asTable(120);
  EXPECT_NE(asTable(120).find("   390.6 KiB   293.0 KiB    pool-used: "), std::string::npos) << asTable(120);
}

TEST_F(LedgerTest, SaysWhatOfTheBlocksIsNotResident) {
  begin(1, 4711);
  events({at(1, 0x100000, 64 * kMebi, kTwo)});
  sample(1, 2, 5 * kMebi, kMebi, 0, 0);
  end(1, 0, kStart + 1000 * kMs);
  finish();
  EXPECT_EQ(sumOf(-1), Both(5 * kMebi, 5 * kMebi));
  EXPECT_EQ(of("blocks").first, 64 * kMebi);
  EXPECT_EQ(of("not-resident").first, 5 * kMebi - (64 * kMebi + 4096 + kMebi));
  EXPECT_EQ(of("unattributed").first, 0);
  EXPECT_NE(asTable(120).find("-60.0 MiB"), std::string::npos) << asTable(120);
}

TEST_F(LedgerTest, AddsUpProcessesThatTheKernelTellsOf) {
  for (uint32_t process = 1; process <= 4; ++process)
    begin(process, 4710 + process);
  events({at(1, 0x10, 50 * kMebi, in(4, kTwo)), at(2, 0x10, 0, in(4, kTwo)), at(10, 0x10, 20 * kMebi, in(1, kTwo)),
          at(11, 0x10, 40 * kMebi, in(2, kTwo)), at(12, 0x10, 1000, in(3, kTwo))});
  sample(4, 1, 51 * kMebi, 0, 0, 0);
  sample(1, 10, 30 * kMebi, 0, 0, 0);
  sample(2, 11, 15 * kMebi, 0, 0, 0); // one process has memory without events, the other has not touched its memory
  end(4, 0, kStart + 3 * kMs);
  for (uint32_t process = 1; process <= 3; ++process)
    end(process, 0, kStart + 100 * kMs);
  const json report = finish();
  EXPECT_EQ(report["peak"]["bytes"], 60 * kMebi + 1000);
  EXPECT_EQ(report["peak"]["resident_bytes"], 45 * kMebi) << "of a process that has ended, nothing is resident";
  EXPECT_EQ(sumOf(-1).first, 45 * kMebi);
  EXPECT_EQ(of("blocks").first, 60 * kMebi) << "without the process that nobody looked at";
  EXPECT_EQ(of("unattributed").first, 10 * kMebi - 4096);
  EXPECT_EQ(of("not-resident").first, -25 * kMebi - 4096);
}

TEST_F(LedgerTest, HasALedgerOfEachDevice) {
  const Where first{.heap = abi::Heap::Device, .site = 1}, second{.heap = abi::Heap::Device, .site = 1, .device = 1};
  const Where managed{.heap = abi::Heap::Managed, .site = 2, .device = 1};
  begin(1, 4711);
  events({at(1, 0x1000, 8000, first), at(2, 0x1000, 3000, kPart), at(3, 0x9000, 500, second),
          at(4, 0xa000, 70, managed), at(5, 0x9000, 0, second)});
  end(1, 0, kStart + 1000 * kMs);
  finish();
  EXPECT_EQ(of("pool-used", 0), Both(3000, 3000));
  EXPECT_EQ(of("pool-free", 0), Both(5000, 5000));
  EXPECT_EQ(of("blocks", 1), Both(570, 70));
  EXPECT_EQ(sumOf(-1), Both(0, 0)) << "the kernel's number is not known";
}

// A segment is freed while a part of it is alive. Later, a host block is allocated at the segment's address. Neither
// the freed segment nor its part may count as a pool's memory.
TEST_F(LedgerTest, ForgetsSegmentsThatAreFreed) {
  begin(1, 4711);
  events({at(1, 0x1000, 8000, kHostSegment), at(2, 0x1000, 3000, kPart), at(3, 0x1000, 0, kHostSegment),
          at(4, 0x20000, 9000, kTwo), at(5, 0x1000, 0, kPart), at(6, 0x1000, 100, kHostSegment)});
  end(1, 0, kStart + 1000 * kMs);
  finish();
  EXPECT_EQ(of("pool-used"), Both(0, 0));
  EXPECT_EQ(of("pool-free"), Both(0, 0));
  EXPECT_EQ(of("blocks"), Both(9100, 9100));
}

// The pool hands out a part before the window (the reported time) begins. The window's ledger must show the pool.
TEST_F(LedgerTest, KnowsPoolsFromBeforeAWindow) {
  begin(1, 4711);
  events({at(1, 0x1000, 8000, kHostSegment), at(2, 0x1000, 3000, kPart), at(30, 0x20000, 500, kTwo)});
  end(1, 0, kStart + 1000 * kMs);
  manifest();
  close();
  ReportQuestion question;
  question.window.from = uint64_t{20 * kMs};
  const auto report = analyzeRun(run, question);
  ASSERT_TRUE(report) << report.error().message;
  std::map<std::string, int64_t> at_peak;
  for (const LedgerLine &line : report->ledger)
    at_peak[nameOf(line.source)] = line.at_peak_bytes;
  EXPECT_EQ(at_peak["pool-used"], 3000);
  EXPECT_EQ(at_peak["pool-free"], 5000);
  EXPECT_EQ(at_peak["blocks"], 500);
}

namespace {

constexpr Where kOnDevice{.heap = abi::Heap::Device, .site = 1};

StreamEvent inUse(uint64_t ms, int64_t bytes, uint64_t label = 1) {
  return {
      1, 1,
      abi::AnyEvent::from(abi::CounterEvent{{abi::EventKind::Counter, abi::Heap::Device, 0, 0, 0, kStart + ms * kMs},
                                            label,
                                            static_cast<uint64_t>(bytes)})};
}

} // namespace

TEST_F(LedgerTest, SaysWhatADriverHasBesideTheBlocks) {
  begin(1, 4711);
  const std::string labels =
      record(abi::DefinitionKind::String, raw(abi::StringDefinition{1, 0}) + "driver: bytes in use") +
      record(abi::DefinitionKind::String, raw(abi::StringDefinition{2, 0}) + "something else");
  ASSERT_TRUE(writer->definitions(1, std::as_bytes(std::span(labels))));
  events({at(1, 0x1000, 10 * kMebi, kOnDevice), inUse(2, 13 * kMebi), at(50, 0x900000, 20 * kMebi, kOnDevice),
          inUse(52, 35 * kMebi), inUse(53, 99 * kMebi, 2), at(100, 0x900000, 0, kOnDevice), inUse(110, 16 * kMebi)});
  end(1, 0, kStart + 1000 * kMs);
  finish();
  EXPECT_EQ(of("driver", 0), Both(5 * kMebi, 6 * kMebi));
  EXPECT_EQ(of("blocks", 0), Both(30 * kMebi, 10 * kMebi));
  EXPECT_EQ(sumOf(0), Both(35 * kMebi, 16 * kMebi));
}

// Both the driver and the device's manager report their bytes in use. The lines of the device must add up to the
// manager's number.
TEST_F(LedgerTest, SaysWhatAManagerCountsBeyondTheDriver) {
  begin(1, 4711);
  const std::string labels =
      record(abi::DefinitionKind::String, raw(abi::StringDefinition{1, 0}) + "driver: bytes in use") +
      record(abi::DefinitionKind::String, raw(abi::StringDefinition{2, 0}) + "manager: bytes in use");
  ASSERT_TRUE(writer->definitions(1, std::as_bytes(std::span(labels))));
  events({at(1, 0x1000, 10 * kMebi, kOnDevice), inUse(2, 13 * kMebi), inUse(2, 17 * kMebi, 2),
          at(50, 0x900000, 20 * kMebi, kOnDevice), inUse(52, 35 * kMebi), inUse(52, 40 * kMebi, 2),
          at(100, 0x900000, 0, kOnDevice), inUse(110, 16 * kMebi), inUse(110, 18 * kMebi, 2)});
  end(1, 0, kStart + 1000 * kMs);
  finish();
  EXPECT_EQ(of("driver", 0), Both(5 * kMebi, 6 * kMebi));
  EXPECT_EQ(of("manager", 0), Both(5 * kMebi, 2 * kMebi));
  EXPECT_EQ(sumOf(0), Both(40 * kMebi, 18 * kMebi));
}

TEST_F(LedgerTest, TakesWhatTheDriverSaidNextToThePeak) {
  begin(1, 4711);
  const std::string label =
      record(abi::DefinitionKind::String, raw(abi::StringDefinition{1, 0}) + "driver: bytes in use");
  ASSERT_TRUE(writer->definitions(1, std::as_bytes(std::span(label))));
  events({at(1, 0x1000, 10 * kMebi, kOnDevice), inUse(48, 14 * kMebi), at(50, 0x900000, 20 * kMebi, kOnDevice),
          inUse(200, 31 * kMebi), at(300, 0x900000, 0, kOnDevice), at(301, 0x1000, 0, kOnDevice)});
  end(1, 0, kStart + 1000 * kMs);
  finish();
  EXPECT_EQ(of("driver", 0), Both(4 * kMebi, kMebi));
}

TEST_F(LedgerTest, ADriverThatSaysLessThanTheBlocksHasNothing) {
  begin(1, 4711);
  const std::string label =
      record(abi::DefinitionKind::String, raw(abi::StringDefinition{1, 0}) + "driver: bytes in use");
  ASSERT_TRUE(writer->definitions(1, std::as_bytes(std::span(label))));
  events({at(1, 0x1000, 10 * kMebi, kOnDevice), inUse(2, 3 * kMebi)});
  end(1, 0, kStart + 1000 * kMs);
  finish();
  EXPECT_EQ(of("driver", 0), Both(0, 0));
}

} // namespace msleaks::analysis
